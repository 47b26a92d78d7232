"""The one grader; what ships in every task is the file beside this one."""

from grader.grader import (
    ANSWER_TYPES,
    CAUSES,
    GRADER_VERSION,
    Finding,
    GoldError,
    Grade,
    check_gold,
    from_reward_mode,
    grade,
    infer_answer_type,
    run_cases,
    source_sha256,
)

__all__ = [
    "ANSWER_TYPES",
    "CAUSES",
    "GRADER_VERSION",
    "Finding",
    "GoldError",
    "Grade",
    "check_gold",
    "from_reward_mode",
    "grade",
    "infer_answer_type",
    "run_cases",
    "source_sha256",
]
