"""The one grader; what ships in every task is the file beside this one."""
