// What stands beside the map: tooltip, the chosen node, the legend, the search box. Texts are set as text, never as HTML.

function element(tag, kind, ...inside) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  made.append(...inside);
  return made;
}

function button(kind, act, ...inside) {
  const made = element("button", kind, ...inside);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
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

  // The most likely classes of a node, with bars.
  odds(i) {
    const { data } = this, list = element("ul", "odds");
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

  // What is known of a node's class, in lines.
  known(i) {
    const { data } = this, lines = [];
    if (data.given[i] >= 0) lines.push(element("p", "told", "learned from as ", this.classElement(data.given[i])));
    if (data.truth[i] >= 0 && data.truth[i] !== data.given[i]) {
      const right = data.truth[i] === data.predicted[i] ? "" : " (predicted wrong)";
      lines.push(element("p", "told", "true class ", this.classElement(data.truth[i]), right));
    }
    if (data.neighbours) {
      const count = data.neighbours.degrees[i];
      lines.push(element("p", "told", count === 1 ? "1 neighbour" : `${count.toLocaleString("en")} neighbours`));
    }
    return lines;
  }

  tooltip(i) {
    return [element("strong", "", this.data.ids[i]), this.odds(i), ...this.known(i)];
  }

  neighboursOf(i) {
    const near = this.data.neighbours;
    return near ? near.found.subarray(near.starts[i], near.starts[i + 1]) : new Uint32Array(0);
  }

  // The card of the chosen node; choose(j) is called for a neighbour that is clicked.
  card(i, choose, close) {
    const { data } = this;
    const head = element("header", "", element("h3", "", data.ids[i]), button("link", close, "close"));
    const parts = [head, this.odds(i), ...this.known(i)];
    const near = this.neighboursOf(i);
    if (near.length) {
      const list = element("ul", "neighbours");
      for (const j of near) {
        list.append(element("li", "", button("", () => choose(j), element("span", "", data.ids[j]), this.classElement(data.predicted[j]))));
      }
      parts.push(list);
      const more = data.neighbours.degrees[i] - near.length;
      if (more > 0) parts.push(element("p", "told", `and ${more.toLocaleString("en")} more`));
    }
    return parts;
  }
}

// The legend: a button for each group, which shows or hides it. A double click shows one group alone.
class Legend {
  constructor(list, changed) {
    Object.assign(this, { list, changed, entries: [] });
  }

  // entries: {name, kind, group, count}; shown: one flag a group, changed in place.
  fill(entries, shown) {
    Object.assign(this, { entries, shown });
    this.buttons = entries.map((entry) => {
      const made = button("", () => this.set((e) => (e === entry ? 1 - shown[e.group] : shown[e.group])),
        element("span", `swatch ${entry.kind}`), element("span", "", entry.name),
        element("span", "count", entry.count.toLocaleString("en")));
      made.title = "Click to show or hide, double click to show it alone";
      made.addEventListener("dblclick", () => this.set((e) => (e === entry ? 1 : 0)));
      return made;
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

// The search box: nodes whose id is, begins with or contains what was typed.
class Search {
  constructor(data, panels, input, list, choose) {
    Object.assign(this, { data, panels, input, list, choose, found: [], at: 0 });
    input.addEventListener("input", () => this.look());
    input.addEventListener("focus", () => this.look());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.key(event));
  }

  matches(typed, most = 8) {
    this.lower = this.lower || this.data.ids.map((id) => id.toLowerCase());
    const exact = [], first = [], inside = [];
    for (let i = 0; i < this.lower.length; i++) {
      const at = this.lower[i].indexOf(typed);
      if (at < 0) continue;
      if (at > 0) { if (inside.length < most) inside.push(i); } else if (this.lower[i] === typed) exact.push(i);
      else if (first.length < most) first.push(i);
    }
    return [...exact, ...first, ...inside].slice(0, most);
  }

  look() {
    const typed = this.input.value.trim().toLowerCase();
    if (!typed) { this.close(); return; }
    this.found = this.matches(typed);
    this.at = 0;
    const items = this.found.map((i, k) => {
      const item = element("li", "", element("span", "", this.data.ids[i]), this.panels.classElement(this.data.predicted[i]));
      item.setAttribute("role", "option");
      item.id = `found-${k}`;
      item.addEventListener("mousedown", (event) => { event.preventDefault(); this.take(k); });
      return item;
    });
    if (!items.length) {
      const part = this.data.n < this.data.total ? ` among the ${this.data.n.toLocaleString("en")} nodes shown` : "";
      items.push(element("li", "nothing", `no such node${part}`));
    }
    this.list.replaceChildren(...items);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.light();
  }

  light() {
    if (!this.found.length) return;
    [...this.list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === this.at)));
    this.input.setAttribute("aria-activedescendant", `found-${this.at}`);
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (event.key === "Escape") { this.close(); return; }
    if (this.list.hidden && event.key !== "Enter") return;
    if (event.key === "ArrowDown") this.at = Math.min(this.at + 1, this.found.length - 1);
    else if (event.key === "ArrowUp") this.at = Math.max(this.at - 1, 0);
    else if (event.key === "Enter") { if (this.list.hidden) this.look(); this.take(this.at); return; }
    else return;
    event.preventDefault();
    this.light();
  }

  take(k) {
    if (k >= this.found.length) return;
    this.input.value = this.data.ids[this.found[k]];
    this.close();
    this.choose(this.found[k]);
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}
