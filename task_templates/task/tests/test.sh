#!/bin/sh
# Grades the sealed answer. The grader alone writes /logs/verifier/reward.json, and only for a real verdict: where the seal is
# missing or damaged it writes none and exits 2, so that "no verdict" is never read as 0.
# It is imported, not run by path, so that Python takes what the image build compiled; Python itself checks that this was
# compiled from the very bytes of grader.py, and compiles them anew where it was not.
exec python3 -I -S -c 'import sys; sys.path.append("/tests"); import grader; sys.exit(grader.main())' \
    --expected /tests/expected.json \
    --answer /sealed/answer \
    --sentinel /sealed/sentinel.json \
    --reward-dir /logs/verifier
