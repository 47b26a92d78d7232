"""What rollouts leave behind, read without what it takes to run them: records, their audit, boxes that still stand."""
