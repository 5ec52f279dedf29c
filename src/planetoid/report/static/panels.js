// Tooltip, details of the selected node, legend and search box. Texts are set as text, never as HTML.

function element(tag, kind, ...content) {
  const node = document.createElement(tag);
  if (kind) node.className = kind;
  node.append(...content);
  return node;
}

function button(kind, action, ...content) {
  const node = element("button", kind, ...content);
  node.type = "button";
  node.addEventListener("click", action);
  return node;
}

const inPercent = (share) => `${(100 * share).toFixed(share > 0.9995 || share < 0.0005 ? 0 : 1)} %`;

class Panels {
  constructor(data) {
    this.data = data;
    this.classElement = (code, kind = "") => {
      const known = code >= 0;
      return element("span", `class ${known ? `c${code}` : ""} ${kind}`, element("span", "swatch"), known ? data.classes[code] : "unknown");
    };
  }

  // The most probable classes of a node, with bars.
  probabilities(i) {
    const { data } = this, list = element("ul", "probabilities");
    for (let k = 0; k < data.top; k++) {
      const code = data.topClasses[i * data.top + k], share = data.topProbabilities[i * data.top + k] / FULL;
      const line = element("div", "", this.classElement(code), element("span", "value", inPercent(share)));
      const item = element("li", `c${code}`, line);
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      svg.setAttribute("viewBox", "0 0 100 5");
      svg.setAttribute("preserveAspectRatio", "none");
      for (const [kind, width] of [["track", 100], ["", 100 * share]]) {
        const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        if (kind) rect.setAttribute("class", kind);
        rect.setAttribute("width", width.toFixed(1));
        rect.setAttribute("height", "5");
        svg.append(rect);
      }
      item.append(svg);
      list.append(item);
    }
    return list;
  }

  // Known labels and number of neighbours of a node.
  details(i) {
    const { data } = this, lines = [];
    if (data.labelSets) {
      lines.push(element("p", "detail", `predicted labels ${data.predictedSets[i]}`));
      if (data.labelSets[i]) lines.push(element("p", "detail", `known labels ${data.labelSets[i]}`));
    } else if (data.labels[i] >= 0) lines.push(element("p", "detail", "training label ", this.classElement(data.labels[i])));
    if (data.truth[i] >= 0 && data.truth[i] !== data.labels[i]) {
      const verdict = data.truth[i] === data.predicted[i] ? "" : " (wrong prediction)";
      lines.push(element("p", "detail", "true class ", this.classElement(data.truth[i]), verdict));
    }
    if (data.neighbours) {
      const count = data.neighbours.degrees[i];
      lines.push(element("p", "detail", count === 1 ? "1 neighbour" : `${count.toLocaleString("en")} neighbours`));
    }
    return lines;
  }

  tooltip(i) {
    return [element("strong", "", nameOf(this.data, i)), ...shownLines(this.data, i), this.probabilities(i), ...this.details(i)];
  }

  neighboursOf(i) {
    const lists = this.data.neighbours;
    return lists ? lists.points.subarray(lists.starts[i], lists.starts[i + 1]) : new Uint32Array(0);
  }

  // What speaks for the class of a node and against it, or why there is nothing about it.
  reasons(i) {
    const { reasons } = this.data;
    if (!reasons) return [];
    if (reasons.problem) return [element("p", "detail", `No reasons: ${reasons.problem}.`)];
    const found = reasons.nodes[i];
    if (!found) {
      const count = Object.keys(reasons.nodes).length;
      return [element("p", "detail", `Reasons are included for ${count.toLocaleString("en")} of ${this.data.total.toLocaleString("en")} nodes, not for this one; "planetoid explain" has them for all.`)];
    }
    const titles = { labels: "Labelled nodes", neighbours: "Neighbours", features: "Features" };
    const parts = [element("h4", "", found.other === null ? `Why ${found.label}, or why not` : `Why ${found.label} rather than ${found.other}`)];
    parts.push(element("p", "detail", `Score ${found.score}: ${reasons.meanings[found.quantity]}.`));
    if (found.note) parts.push(element("p", "detail", `${found.note}.`));
    for (const group of found.groups) {
      const list = element("ul", "reasons");
      for (const [name, value, label] of group.reasons) {
        const sign = value < 0 ? "against" : "for";
        const item = element("li", sign, element("span", "name", name));
        if (label !== null) item.append(element("span", "known", label));
        item.append(element("span", "value", `${value < 0 ? "−" : "+"}${Math.abs(value)}`));
        list.append(item);
      }
      const title = element("h5", "", `${titles[group.kind]}${group.count > group.reasons.length ? `, ${group.reasons.length} of ${group.count.toLocaleString("en")}` : ""}`);
      parts.push(title, element("p", "detail", reasons.meanings[group.meaning]), list);
    }
    return parts;
  }

  // The details of the selected node; a click on a neighbour j calls select(j).
  card(i, select, close) {
    const { data } = this;
    const head = element("header", "", element("h3", "", nameOf(data, i)), button("link", close, "close"));
    const parts = [head, ...shownLines(data, i), this.probabilities(i), ...this.details(i), ...this.reasons(i)];
    const near = this.neighboursOf(i);
    if (near.length) {
      const list = element("ul", "neighbours");
      for (const j of near) {
        list.append(element("li", "", button("", () => select(j), element("span", "", nameOf(data, j)), this.classElement(data.predicted[j]))));
      }
      if (data.reasons) parts.push(element("h4", "", "Neighbours in the graph"));
      parts.push(list);
      const more = data.neighbours.degrees[i] - near.length;
      if (more > 0) parts.push(element("p", "detail", `and ${more.toLocaleString("en")} more`));
    }
    return parts;
  }
}

// The legend: a button per group to show or hide it; a double click shows that group only.
class Legend {
  constructor(list, changed) {
    Object.assign(this, { list, changed, entries: [] });
  }

  // entries: {name, kind, group, count}; shown: one flag per group, changed in place.
  fill(entries, shown) {
    Object.assign(this, { entries, shown });
    this.buttons = entries.map((entry) => {
      const node = button("", () => this.set((e) => (e === entry ? 1 - shown[e.group] : shown[e.group])),
        element("span", `swatch ${entry.kind}`), element("span", "", entry.name),
        element("span", "count", entry.count.toLocaleString("en")));
      node.title = "Click to show or hide, double-click to show only this group";
      node.addEventListener("dblclick", () => this.set((e) => (e === entry ? 1 : 0)));
      return node;
    });
    this.list.replaceChildren(...this.buttons.map((one) => element("li", "", one)));
    this.set((entry) => shown[entry.group]);
  }

  set(flag) {
    const flags = this.entries.map(flag);
    this.entries.forEach((entry, k) => {
      this.shown[entry.group] = flags[k];
      this.buttons[k].setAttribute("aria-pressed", String(flags[k] === 1));
    });
    this.changed();
  }
}

// The search box: nodes whose id or name equals, starts with or contains the query.
class Search {
  constructor(data, panels, input, list, select) {
    Object.assign(this, { data, panels, input, list, select, matches: [], active: 0 });
    input.addEventListener("input", () => this.update());
    input.addEventListener("focus", () => this.update());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.key(event));
  }

  find(query, limit = 8) {
    const lower = (texts) => texts.map((text) => text.toLowerCase());
    this.texts = this.texts || [lower(this.data.ids), ...this.data.shown.slice(0, 1).map(({ cells }) => lower(cells))];
    const equal = [], prefix = [], inner = [];
    for (const texts of this.texts) {
      for (let i = 0; i < texts.length; i++) {
        const start = texts[i].indexOf(query);
        if (start < 0) continue;
        if (start > 0) { if (inner.length < limit) inner.push(i); } else if (texts[i] === query) equal.push(i);
        else if (prefix.length < limit) prefix.push(i);
      }
    }
    return [...new Set([...equal, ...prefix, ...inner])].slice(0, limit);
  }

  update() {
    const query = this.input.value.trim().toLowerCase();
    if (!query) { this.close(); return; }
    this.matches = this.find(query);
    this.active = 0;
    const items = this.matches.map((i, k) => {
      const item = element("li", "", element("span", "", nameOf(this.data, i)), this.panels.classElement(this.data.predicted[i]));
      item.setAttribute("role", "option");
      item.id = `search-result-${k}`;
      item.addEventListener("mousedown", (event) => { event.preventDefault(); this.accept(k); });
      return item;
    });
    if (!items.length) {
      const part = this.data.n < this.data.total ? ` among the ${this.data.n.toLocaleString("en")} nodes shown` : "";
      items.push(element("li", "nothing", `no matching node${part}`));
    }
    this.list.replaceChildren(...items);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.highlight();
  }

  highlight() {
    if (!this.matches.length) return;
    [...this.list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === this.active)));
    this.input.setAttribute("aria-activedescendant", `search-result-${this.active}`);
    this.list.children[this.active].scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.key === "Escape") { this.close(); return; }
    if (this.list.hidden && event.key !== "Enter") return;
    if (event.key === "ArrowDown") this.active = Math.min(this.active + 1, this.matches.length - 1);
    else if (event.key === "ArrowUp") this.active = Math.max(this.active - 1, 0);
    else if (event.key === "Enter") { if (this.list.hidden) this.update(); this.accept(this.active); return; }
    else return;
    event.preventDefault();
    this.highlight();
  }

  accept(k) {
    if (k >= this.matches.length) return;
    this.input.value = nameOf(this.data, this.matches[k]);
    this.close();
    this.select(this.matches[k]);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
