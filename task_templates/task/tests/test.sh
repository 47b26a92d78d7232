#!/bin/sh
# Grades the sealed answer. The grader alone writes /logs/verifier/reward.json, and only for a real verdict: where the seal is
# missing or damaged it writes none and exits 2, so that "no verdict" is never read as 0.
exec python3 -I /tests/grader.py \
    --expected /tests/expected.json \
    --answer /sealed/answer \
    --sentinel /sealed/sentinel.json \
    --reward-dir /logs/verifier
