"use strict";
// Everything is on the page without this script; with it tables can be sorted and filtered, and a row shows its
// marks in the picture, and a mark its row.

const all = (root, selector) => Array.from(root.querySelectorAll(selector));

const make = (name, attributes, ...children) => {
  const element = document.createElement(name);
  Object.assign(element, attributes);
  element.append(...children);
  return element;
};

// ---- sorting: a button in every head of a table with more than one row ------------------------------------

const keyOf = (row, column) => {
  const cell = row.cells[column];
  if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
  const text = cell.textContent.trim();
  const number = Number(text.replace(/,| %$/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text;
};

const compare = (a, b) => {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, "en", {numeric: true});
  return typeof a === "number" ? -1 : 1;
};

const sortBy = (table, head) => {
  const down = head.getAttribute("aria-sort") === "ascending";
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({row, key: keyOf(row, head.cellIndex)}));
  rows.sort((a, b) => (down ? compare(b.key, a.key) : compare(a.key, b.key)));
  all(table, "th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...rows.map((entry) => entry.row));
};

all(document, ".tw > table").forEach((table) => {
  if (table.tBodies[0].rows.length < 2) return;
  all(table, "thead th").forEach((head) => {
    const button = make("button", {type: "button", title: "Sort"}, ...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head));
    head.append(button);
  });
});

// ---- filtering: words that a row has to have ---------------------------------------------------------------

const filterRows = (container, text, told) => {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  let shown = 0;
  all(container, "details").forEach((group) => {
    const name = group.querySelector("summary").textContent.toLowerCase();
    let here = 0;
    all(group, "tbody tr").forEach((row) => {
      const content = name + " " + row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word));
      here += row.hidden ? 0 : 1;
    });
    if (group.dataset.open === undefined) group.dataset.open = group.open;
    group.hidden = here === 0;
    group.open = words.length > 0 ? here > 0 : group.dataset.open === "true";
    shown += here;
  });
  told.textContent = words.length > 0 ? shown + (shown === 1 ? " row" : " rows") : "";
};

all(document, "[data-filter]").forEach((container) => {
  const input = make("input", {type: "search", autocomplete: "off", spellcheck: false});
  const told = make("span", {role: "status"});
  told.setAttribute("role", "status");
  input.addEventListener("input", () => filterRows(container, input.value, told));
  container.prepend(make("label", {className: "filter"}, "Filter " + container.dataset.filter, input, " ", told));
});

// ---- pictures and tables: a mark's title begins as its row does -------------------------------------------

const isOf = (title, row) => {
  const name = row.cells[0].textContent.trim();
  const second = row.cells.length > 1 ? row.cells[1].textContent.trim() : "";
  return [name, name + " " + second, "layer " + name].some((key) => title.startsWith(key + ":")) ||
    (title.includes("." + name + ".") && title.endsWith(" " + second));
};

const marksOf = (figure) => all(figure, "svg.p title").map((title) => title.parentNode)
  .filter((mark) => mark.tagName !== "svg");

const showRow = (rows, row) => {
  rows.forEach((other) => other.classList.remove("lit"));
  row.classList.add("lit");
  row.closest("details").open = true;
  row.scrollIntoView({block: "nearest"});
};

const link = (figure) => {
  const rows = all(figure, "details tbody tr");
  const light = (row, on) => marksOf(figure).forEach((mark) => {
    if (isOf(mark.firstChild.textContent, row)) mark.classList.toggle("lit", on);
  });
  rows.forEach((row) => {
    row.addEventListener("pointerenter", () => light(row, true));
    row.addEventListener("pointerleave", () => light(row, false));
  });
  all(figure, "svg.p").forEach((picture) => picture.addEventListener("click", (event) => {
    const mark = event.target.closest("rect, circle");
    const title = mark && mark.querySelector("title");
    const row = title && rows.find((candidate) => isOf(title.textContent, candidate));
    if (row) showRow(rows, row);
  }));
};

all(document, "figure").forEach(link);

// ---- grids: cells without titles, whose rows the figure's table has ------------------------------------------

const cellKey = (name) => {
  const parts = /\.(\d+)\.(.+)$/.exec(name.replace(/\.weight$/, ""));
  return parts && `${Number(parts[1])}.${parts[2]}`;
};

const gridOf = (drawing) => ({
  drawing, picture: drawing.parentNode, first: Number(drawing.dataset.first), height: Number(drawing.dataset.row),
  columns: drawing.viewBox.baseVal.width,
  roles: all(drawing.closest(".rows"), ".labels span").map((span) => span.textContent.replace(/^.* × /, "")),
});

const frameCell = (grid, layer, role, title) => {
  const cell = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const place = {x: `${(100 * (layer - grid.first)) / grid.columns}%`, y: role * grid.height,
    width: `${100 / grid.columns}%`, height: grid.height - 1, class: "lit over"};
  Object.entries(place).forEach(([name, value]) => cell.setAttribute(name, value));
  if (title) cell.append(document.createElementNS(cell.namespaceURI, "title"));
  if (title) cell.firstChild.textContent = title;
  grid.picture.append(cell);
  return cell;
};

const linkGrid = (grid, rows, heads) => {
  let shown = null, key = null;
  const clear = () => { if (shown) shown.remove(); shown = key = null; };
  const at = (event) => {
    const box = grid.picture.getBoundingClientRect();
    const layer = grid.first + Math.floor(((event.clientX - box.left) / box.width) * grid.columns);
    const role = Math.floor((event.clientY - box.top) / grid.height);
    const row = rows.get(`${layer}.${grid.roles[role]}`);
    return row && {row, layer, role, key: `${layer}.${role}`};
  };
  grid.picture.addEventListener("pointermove", (event) => {
    const cell = at(event);
    if (cell && cell.key === key) return;
    clear();
    if (!cell) return;
    const values = Array.from(cell.row.cells, (value, i) => (i > 0 ? `${heads[i]}: ` : "") + value.textContent);
    shown = frameCell(grid, cell.layer, cell.role, values.join("\n"));
    key = cell.key;
  });
  grid.picture.addEventListener("pointerleave", clear);
  grid.picture.addEventListener("click", (event) => {
    const cell = at(event);
    if (cell) showRow(Array.from(rows.values()), cell.row);
  });
};

const lightCells = (grids, row) => {
  const key = cellKey(row.cells[0].textContent.trim());
  return grids.flatMap((grid) => grid.roles.flatMap((name, role) => {
    const layer = Number.parseInt(key, 10);
    const isHere = key === `${layer}.${name}` && layer >= grid.first && layer < grid.first + grid.columns;
    return isHere ? [frameCell(grid, layer, role)] : [];
  }));
};

all(document, "figure").forEach((figure) => {
  const grids = all(figure, "svg.cells").map(gridOf);
  const tables = all(figure, "details table");
  if (grids.length === 0 || tables.length === 0) return;
  const table = tables[tables.length - 1]; // the one of all tensors
  const rows = new Map(all(table, "tbody tr").map((row) => [cellKey(row.cells[0].textContent.trim()), row]));
  const heads = all(table, "thead th").map((head) => head.textContent.trim());
  grids.forEach((grid) => linkGrid(grid, rows, heads));
  rows.forEach((row) => {
    let lit = [];
    row.addEventListener("pointerenter", () => { lit = lightCells(grids, row); });
    row.addEventListener("pointerleave", () => lit.forEach((cell) => cell.remove()));
  });
});

// ---- printing: all tables are open ---------------------------------------------------------------------------

addEventListener("beforeprint", () => all(document, "details").forEach((group) => { group.open = true; }));

// A link to something in a closed group opens it.
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let group = target && target.closest("details"); group; group = group.parentNode.closest("details"))
    group.open = true;
};
addEventListener("hashchange", reveal);
reveal();
