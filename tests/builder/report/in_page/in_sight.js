// Whether a row of the table of tasks is seen whole: not above, below or behind the head.
(id) => {
  const row = document.getElementById(id).getBoundingClientRect();
  const box = document.querySelector("#tasks-scroller").getBoundingClientRect();
  const head = document.querySelector("#tasks thead").offsetHeight;
  return row.top >= box.top + head - 1 && row.bottom <= box.bottom + 1;
};
