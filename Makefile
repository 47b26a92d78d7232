# Every target does all of its own set-up: a fresh clone and `make catalog` or `make test` are enough.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

DIST := catalog/dist
SPEC := catalog/specs/demo.toml
DEMO := $(DIST)/demo
# Where `make push` goes (hf:ORG/NAME for the Hub), and what else it is told (--private-tests, --allow-unverified).
TO ?= dir:$(DIST)/hub/demo
PUSH ?=
HW := .venv/bin/harborwright
JOBS ?= $(shell nproc)
# uv from the machine where it works, else one of our own (a version manager's stand-in may be there and not work).
UV := $(shell uv --version >/dev/null 2>&1 && command -v uv || echo .tools/bin/uv)

.PHONY: help setup catalog test verify verify-all check push lint types bench docker registry clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

.tools/bin/uv:
	@python3 -m venv .tools && .tools/bin/pip install --quiet uv

.venv/.ready: pyproject.toml uv.lock | $(if $(filter .tools/bin/uv,$(UV)),.tools/bin/uv)
	@$(UV) sync --frozen --quiet
	@touch $@

# What tests and linters look at besides, and building a catalog does without.
.venv/.ready-extras: .venv/.ready
	@$(UV) sync --frozen --quiet --extra ray --extra rollouts
	@touch $@

setup: .venv/.ready ## make the environment from the lock (every target does this itself)

catalog: setup ## build and check the demo catalog, and prove a sample of it where a Docker engine is there
	@$(HW) catalog $(SPEC) --out $(DEMO) --jobs $(JOBS)

test: .venv/.ready-extras ## run every test; those that need Docker need `make docker` first
	@.venv/bin/pytest

check: setup ## check the built demo catalog without containers
	@$(HW) check $(DEMO) --jobs $(JOBS)

verify: setup ## prove a sample of the demo catalog in containers: every table set, every answer type, every probe
	@$(HW) verify $(DEMO) --sample 24 --jobs $(JOBS)

verify-all: setup ## prove the whole demo catalog in containers: oracle and nop on every task, the other probes on a cover
	@$(HW) verify $(DEMO) --jobs $(JOBS)

push: setup ## push the proven demo catalog to TO: a folder laid out as on the Hub, or hf:ORG/NAME
	@$(HW) push $(DEMO) --spec $(SPEC) --to $(TO) $(PUSH)

SCRIPTS := builder/machine/*.sh task_templates/task/tests/*.sh .ci/run
SCRIPT_TEMPLATES := task_templates/task/solution/*.sh.j2

lint: export PATH := $(CURDIR)/.venv/bin:$(PATH)
lint: .venv/.ready-extras ## ruff, mypy --strict and shellcheck
	@ruff check . && ruff format --check . && mypy
	@shellcheck -x $(SCRIPTS)
	@for template in $(SCRIPT_TEMPLATES); do \
		sed 's|{{[^}]*}}|/app/value|g' "$$template" | shellcheck - || { echo "in $$template"; exit 1; }; \
	done

bench: .venv/.ready-extras ## measure speed and memory side by side, into bench/out/
	@.venv/bin/python -m bench

docker: ## bring a Docker engine, compose, buildx and the base image to a Debian machine (as root)
	@builder/machine/docker.sh

registry: ## start this machine's registry on loopback, which data images are kept in (as root)
	@builder/machine/registry.sh

clean: ## remove .venv, .tools, catalog/dist with its receipts, bench/out and the tools' caches; not ~/.cache/harborwright
	@rm -rf .venv .tools $(DIST) .pytest_cache .mypy_cache .ruff_cache .hypothesis bench/out
