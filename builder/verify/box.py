"""The box of a trial: Harbor's own Docker environment, watched, labelled and bounded.

What Harbor does is left as it is - the task's own Dockerfiles, limits, users, healthcheck, seal and verifier. Added:
the run's label on everything that is started, the memory watch, a look at the box before it is taken down, an end to
every command (a copy out of a box, or a frozen engine, has none in Harbor), a bound on processes and on the agent's
log, a seal that comes in where the agent left no room for it, and an image that is built once per content instead of
once per trial.
"""

from __future__ import annotations

import asyncio
import dataclasses
import shlex
from pathlib import Path
from typing import Any, Final, override

import docker.errors
from harbor.environments.base import ExecResult, HealthcheckError, OutputCallback, SandboxBuildFailedError
from harbor.environments.docker.docker import DockerEnvironment, _sanitize_docker_compose_project_name
from harbor.environments.docker.runtime import DOCKER_RUNTIME, ContainerRuntime
from harbor.models.task.config import HealthcheckConfig

from builder.verify import engine, memory
from builder.verify.direct import Copies, plain_command
from builder.verify.outcome import BoxState, Seen
from builder.verify.runs import RUNS
from catalog import paths

# Seconds that one command may take; "exec" is bounded by its phase, and here in case that fails.
LIMITS: Final = {"cp": 180, "up": 180, "down": 90, "exec": 4 * 3600}
RESTART_SEC: Final = 60
# Kept of one file that an agent wrote for its log; what a solution prints has no other bound.
LOG_LIMIT_BYTES: Final = 1024 * 1024
_LOGS: Final = "/logs/agent/"
_SEAL: Final = f"{paths.HARNESS_DIR}/seal.py"
_RUNTIME: Final = dataclasses.replace(DOCKER_RUNTIME, supports_compose_wait=False)


class ProbeBox(DockerEnvironment):
    """One container of a trial, the agent's or the verifier's."""

    def __init__(self, *args: Any, run: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._run = RUNS[run]
        self._platform = Copies(self)  # type: ignore[assignment]  # Harbor's two kinds share no base
        self._container: str | None = None
        self._watch: memory.Watch | None = None
        self._memory: memory.Memory | None = None
        self._state: tuple[BoxState, bool] = ("unknown", False)
        self._unfit = ""
        self._engine_lost = self._started = self._oom_before_restart = False

    @property
    def seen(self) -> Seen:
        """What was seen of this box; complete once it has been stopped."""
        state, oom_killed = self._state
        lost = self._engine_lost or self._run.engine_gone
        return Seen(state, oom_killed, self._memory, self._unfit, engine_gone=lost)

    @property
    def project(self) -> str:
        """The compose project this box runs as."""
        return _sanitize_docker_compose_project_name(self.session_id)

    @property
    def container(self) -> str | None:
        """The container's id, once it has started."""
        return self._container

    # -- what Harbor runs ------------------------------------------------------------------------------------------

    @classmethod
    @override
    def runtime(cls) -> ContainerRuntime:
        return _RUNTIME  # `up --wait` looks every half second; we look ourselves

    @classmethod
    @override
    def _detect_daemon_os(cls) -> str | None:
        return None  # asked once before the run; Harbor would block every other trial to ask again

    @override
    async def _validate_image_os(self, image_name: str) -> None:
        return

    @property
    @override
    def _docker_compose_paths(self) -> list[Path]:
        return [*super()._docker_compose_paths, self._run.labels]

    @override
    async def _run_docker_compose_command(
        self,
        command: list[str],
        check: bool = True,
        timeout_sec: int | None = None,
        stdin_data: bytes | None = None,
        on_output: OutputCallback | None = None,
    ) -> ExecResult:
        if self._run.engine_gone:
            raise RuntimeError("the container engine does not answer")
        if self._run.hurry:
            raise RuntimeError("the run is being ended")
        if command[0] == "down" and self._container is None and not self._started:
            return ExecResult(return_code=0)  # no other trial ever had this name: nothing stale can be there
        self._started = self._started or command[0] == "up"
        bounds = [seconds for seconds in (timeout_sec, LIMITS.get(command[0])) if seconds]
        bound = min(bounds) if bounds else None
        direct = plain_command(command, self._container, stdin=stdin_data is not None)
        if direct is None or on_output is not None:
            return await super()._run_docker_compose_command(command, check, bound, stdin_data, on_output)
        result = await self._spawn(direct, bound, stdin_data)
        if check and result.return_code != 0:
            raise RuntimeError(f"{' '.join(direct)[:500]} failed ({result.return_code}): {result.stdout}")
        return result

    async def _spawn(self, command: list[str], timeout_sec: int | None, stdin: bytes | None = None) -> ExecResult:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        return await self._collect_buffered_output(process, timeout_sec=timeout_sec, stdin_data=stdin)

    @staticmethod
    @override
    async def _collect_buffered_output(
        process: asyncio.subprocess.Process, *, timeout_sec: int | None, stdin_data: bytes | None = None
    ) -> ExecResult:
        try:
            return await DockerEnvironment._collect_buffered_output(
                process, timeout_sec=timeout_sec, stdin_data=stdin_data
            )
        except BaseException:
            await DockerEnvironment._terminate_process(process)  # a cancelled command must not outlive its trial
            raise

    @override
    async def start(self, force_build: bool) -> None:
        if not self.task_env_config.docker_image and self._dockerfile_path.is_file() and not self._uses_compose:
            tag = await self._image()
            self.task_env_config = self.task_env_config.model_copy(update={"docker_image": tag})
            self._env_vars.prebuilt_image_name = tag
        await super().start(force_build)

    @override
    async def _wait_until_compose_exec_ready(self, timeout_sec: int = 90) -> None:
        info = await asyncio.to_thread(self._inspect)
        if info is None or not info["State"]["Running"]:
            raise RuntimeError("the container ended as soon as it had started")
        self._container = info["Id"]
        group = memory.group_of(int(info["State"]["Pid"]))
        self._watch = memory.Watch(*group) if group else None

    @override
    async def run_healthcheck(self, healthcheck: HealthcheckConfig | None = None) -> None:
        try:
            await super().run_healthcheck(healthcheck)
        except HealthcheckError:
            wanted = healthcheck or self.task_env_config.healthcheck
            if wanted is not None:  # Harbor keeps only that it failed; asking again tells why
                result = await self.exec(wanted.command, timeout_sec=int(wanted.timeout_sec), user="root")
                said = (result.stdout or "").strip().splitlines()
                self._unfit = said[-1][:300] if said else f"exit {result.return_code}, without a word"
            raise

    @override
    async def stop(self, delete: bool) -> None:
        try:
            await self._look()
        finally:
            await super().stop(delete)

    @override
    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        run = super().exec
        if _SEAL not in command:
            return await run(command, cwd, env, timeout_sec, user)
        result, failed = None, RuntimeError("the box could not be sealed")
        try:
            result = await run(command, cwd, env, timeout_sec, user)
        except RuntimeError as error:
            failed = error
        if result is not None and result.return_code == 0:
            return result
        if await self._restart():  # sealing twice changes nothing, and an answer's time of change stays as it is
            return await run(command, cwd, env, timeout_sec, user)
        if result is None:
            raise failed
        return result

    @override
    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        if not source_path.startswith(_LOGS):
            await super().download_file(source_path, target_path)
            return
        # Read as the agent's user and cut in the box: whatever the agent does to the file meanwhile, no more comes out.
        result = await self.exec(f"head -c {LOG_LIMIT_BYTES} -- {shlex.quote(source_path)}", timeout_sec=LIMITS["cp"])
        if result.return_code != 0:
            raise RuntimeError(f"{source_path} could not be read in the box: {(result.stdout or '')[:300]}")
        await asyncio.to_thread(Path(target_path).write_text, result.stdout or "", encoding="utf-8")

    # -- what we add -----------------------------------------------------------------------------------------------

    def _inspect(self) -> dict[str, Any] | None:
        """The container as the engine knows it; None where it does not."""
        client = engine.connect()
        try:
            if self._container is None:
                filters = {"label": f"com.docker.compose.project={self.project}"}
                found = client.containers(all=True, filters=filters)
                if not found:
                    return None
                return dict(client.inspect_container(found[0]["Id"]))
            return dict(client.inspect_container(self._container))
        except docker.errors.NotFound:
            return None
        finally:
            client.close()

    async def _restart(self) -> bool:
        """End all that runs in the box by ending the box and starting it again, its files kept; whether that was done.

        Where the agent's processes took every process or all memory, no command comes in, the seal's first of all. A
        box that is no longer running is not started: that is a loss, which is told as one.
        """
        if self._run.engine_gone or self._run.hurry or self._container is None:
            return False
        try:
            info = await asyncio.to_thread(self._inspect)
        except engine.Trouble:
            return False
        if info is None or not info["State"]["Running"]:
            return False
        self._oom_before_restart = bool(info["State"]["OOMKilled"])
        done = await self._spawn(["docker", "restart", "-t", "0", self._container], RESTART_SEC)
        return done.return_code == 0

    async def _look(self) -> None:
        """See in what state the box is, once, before it is taken down."""
        if self._container is None or self._state[0] != "unknown":
            return
        if self._watch is not None:
            self._memory = await asyncio.to_thread(self._watch.stop)
        if self._run.engine_gone:
            return
        try:
            info = await asyncio.to_thread(self._inspect)
        except engine.Trouble:
            self._engine_lost = True
            return
        if info is None:
            self._state = ("gone", False)
            return
        state = info["State"]
        oom_killed = bool(state["OOMKilled"]) or self._oom_before_restart
        self._state = ("running" if state["Running"] else "ended", oom_killed)
        if self._watch is None and state["Running"]:
            result = await self.exec(memory.READ_INSIDE, user="root", timeout_sec=20)
            self._memory = memory.parse_inside(result.stdout or "")

    async def _image(self) -> str:
        """The image of this box's Dockerfile, built where this engine does not hold it yet; returns its tag."""
        tag = f"{engine.IMAGES}:{self.environment_id}"
        async with self._run.building.setdefault(tag, asyncio.Lock()):
            if tag not in self._run.images:
                await self._build(tag)
                self._run.images.add(tag)
        return tag

    async def _build(self, tag: str) -> None:
        command = ["docker", "build", "--quiet", "--tag", tag, str(self.environment_dir.resolve())]
        result = await self._spawn(command, None)  # bounded by the task's own build_timeout_sec
        if result.return_code != 0:
            raise SandboxBuildFailedError(f"docker build failed: {(result.stdout or '').strip()[-1500:]}")
