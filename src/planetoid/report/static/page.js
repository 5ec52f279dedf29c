// Connects map, panels, theme and tables.

const $ = (name) => document.getElementById(name);

function initTheme(changed) {
  const root = document.documentElement, key = "planetoid-report-theme", button = $("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = () => { try { return localStorage.getItem(key); } catch { return null; } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(isDark()));
    changed();
  };
  if (["light", "dark"].includes(stored())) root.dataset.theme = stored();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem(key, root.dataset.theme); } catch { /* without storage the choice is not remembered */ }
    show();
  });
  system.addEventListener("change", show);
  let before; // printed pages are light
  window.addEventListener("beforeprint", () => { before = root.dataset.theme; root.dataset.theme = "light"; show(); });
  window.addEventListener("afterprint", () => { if (before) root.dataset.theme = before; else delete root.dataset.theme; show(); });
  show();
}

// The colour modes of the map: name, groups, and the group of each node.
function colourModes(data) {
  const classes = data.classes.map((name, code) => ({ name, kind: `c${code}`, colour: `--c${code}` }));
  const unknown = { name: "unknown", kind: "", colour: "--unknown" };
  const modes = [{ name: "Predicted class", groups: classes.slice(0, data.nClasses), of: (i) => data.predicted[i] }];
  if (data.truth.some((code) => code >= 0)) {
    const of = (i) => (data.truth[i] < 0 ? classes.length : data.truth[i]);
    modes.push({ name: data.hasTruth ? "True class" : "Training label", groups: [...classes, unknown], of });
  }
  if (data.hasTruth) {
    const groups = [
      { name: "correct", kind: "verdict-right", colour: "--right" }, { name: "wrong", kind: "verdict-wrong", colour: "--wrong" },
      { ...unknown, name: "not evaluated" },
    ];
    modes.push({ name: "Correct or wrong", groups, of: (i) => (!data.evaluated[i] ? 2 : data.truth[i] === data.predicted[i] ? 0 : 1) });
  }
  for (const mode of modes) {
    mode.group = Uint16Array.from({ length: data.n }, (_, i) => mode.of(i));
    mode.shown = new Uint8Array(mode.groups.length).fill(1);
    const counts = new Uint32Array(mode.groups.length);
    for (const g of mode.group) counts[g]++;
    const entries = mode.groups.map((group, g) => ({ ...group, group: g, count: counts[g] })).filter((entry) => entry.count);
    mode.entries = mode.name === "Correct or wrong" ? entries : entries.sort((a, b) => (a.colour === "--unknown") - (b.colour === "--unknown") || b.count - a.count);
  }
  return modes;
}

function startMap() {
  const data = readData(), panels = new Panels(data);
  const map = new NodeMap(data, $("canvas-box"), $("points"), $("marks"));
  const tooltip = $("tooltip"), card = $("node");
  let mode;

  const paint = () => {
    if (!mode) return;
    const style = getComputedStyle(document.documentElement);
    map.colourBy(mode.group, mode.groups.map((group) => style.getPropertyValue(group.colour)), mode.shown);
  };
  const legend = new Legend($("legend"), paint);

  const hover = (x, y, radius = 9) => {
    const i = x < 0 ? -1 : map.pointAt(x, y, radius);
    $("points").classList.toggle("over", i >= 0);
    if (i !== map.hovered) {
      map.hovered = i;
      map.redrawMarks();
      tooltip.hidden = i < 0;
      if (i >= 0) tooltip.replaceChildren(...panels.tooltip(i));
    }
    if (i >= 0) {
      const [px, py] = map.screenOf(i), { offsetWidth: w, offsetHeight: h } = tooltip;
      tooltip.style.left = `${Math.max(6, px + 16 + w > map.width ? px - 16 - w : px + 16)}px`;
      tooltip.style.top = `${Math.max(6, Math.min(map.height - h - 6, py - h / 2))}px`;
    }
  };
  const select = (i, move = true) => {
    map.selected = i;
    map.neighbours = i < 0 ? new Uint32Array(0) : panels.neighboursOf(i);
    card.hidden = i < 0;
    $("node-hint").hidden = i >= 0;
    if (i >= 0) {
      card.replaceChildren(...panels.card(i, select, () => select(-1)));
      card.scrollTop = 0;
      if (move) map.centre(i);
    }
    map.redrawMarks();
  };
  map.onmove = () => hover(-1, -1);
  attachInteraction(map, $("points"), {
    hover,
    pick: (x, y, radius) => { select(map.pointAt(x, y, radius), false); hover(x, y, radius); },
  });

  const modes = colourModes(data);
  const useMode = (selected) => {
    mode = selected;
    [...$("modes").children].forEach((one, k) => one.setAttribute("aria-pressed", String(modes[k] === mode)));
    $("legend-title").textContent = mode.name;
    legend.fill(mode.entries, mode.shown);
  };
  $("modes").append(...modes.map((one) => button("", () => useMode(one), one.name)));
  useMode(modes[0]);

  $("all").addEventListener("click", () => legend.set(() => 1));
  $("none").addEventListener("click", () => legend.set(() => 0));
  $("zoom-in").addEventListener("click", () => map.zoomAt(1.5));
  $("zoom-out").addEventListener("click", () => map.zoomAt(1 / 1.5));
  $("zoom-reset").addEventListener("click", () => map.reset());
  $("confidence").addEventListener("click", () => {
    map.fade = !map.fade;
    $("confidence").setAttribute("aria-pressed", String(map.fade));
    map.redraw();
  });
  const search = new Search(data, panels, $("search"), $("search-results"), (i) => {
    $("canvas-box").scrollIntoView({ block: "nearest" });
    select(i);
  });
  for (const one of document.querySelectorAll("[data-point]")) {
    one.addEventListener("click", () => {
      $("map").scrollIntoView();
      select(Number(one.dataset.point));
    });
  }
  new ResizeObserver(() => map.resize()).observe($("canvas-box"));
  return { data, map, search, select, paint };
}

function initDownload(data) {
  const button = $("download");
  if (!button) return;
  button.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([data.csv], { type: "text/csv;charset=utf-8" }));
    link.download = "label-next.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

// Sorts a table by a click on the header of a column.
function makeSortable(table) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const valueOf = (row, k) => {
    const content = row.cells[k].textContent.trim(), number = parseFloat(content.replace(/,/g, ""));
    return heads[k].classList.contains("number") || row.cells[k].querySelector(".bar") ? (Number.isNaN(number) ? -1 : number) : content.toLowerCase();
  };
  heads.forEach((head, k) => {
    const sort = () => {
      const ascending = head.getAttribute("aria-sort") === "descending" || (k === 0 && !head.hasAttribute("aria-sort"));
      for (const one of heads) one.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => {
        const x = valueOf(a, k), y = valueOf(b, k);
        return (x < y ? -1 : x > y ? 1 : 0) * (ascending ? 1 : -1);
      });
      body.append(...rows);
    };
    head.replaceChildren(button("", sort, ...head.childNodes));
  });
}

const page = startMap();
initTheme(page.paint);
initDownload(page.data);
for (const name of ["class-table", "errors-table"]) if ($(name)) makeSortable($(name));
window.planetoidReport = page; // for tests and for scripts in the console
