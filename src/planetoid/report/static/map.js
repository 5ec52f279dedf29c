// The map: where things are on the screen, what is drawn, and how it moves.

const FULL = 65535;
const LEVELS = 8; // of confidence
const CLOSEST = 200; // times the size at which everything fits

// Width and height of the map as parts of the unit square, which it stands in the middle of.
function extentOf(places) {
  const low = [FULL, FULL], high = [0, 0];
  for (let k = 0; k < places.length; k++) {
    low[k % 2] = Math.min(low[k % 2], places[k]);
    high[k % 2] = Math.max(high[k % 2], places[k]);
  }
  return [0, 1].map((k) => Math.max(0.05, (high[k] - low[k]) / FULL));
}

function fitTo(canvas, width, height) {
  if (canvas.width !== Math.round(width)) canvas.width = Math.round(width);
  if (canvas.height !== Math.round(height)) canvas.height = Math.round(height);
}

class NodeMap {
  constructor(data, box, points, marks) {
    Object.assign(this, { data, box, points, marks });
    this.painter = new Painter(points.getContext("2d", { alpha: false }));
    this.over = marks.getContext("2d");
    this.grid = new Grid(data.places, data.n);
    this.view = { zoom: 1, x: 0.5, y: 0.5 }; // the place in the middle of the canvas
    this.fade = true;
    this.level = new Uint8Array(data.n);
    // Confidence as compared with the other nodes: some methods are modest, and their maps would be all faint.
    const sorted = data.confidence.slice().sort();
    const low = sorted[Math.floor(0.05 * (data.n - 1))], high = sorted[Math.ceil(0.95 * (data.n - 1))];
    for (let i = 0; i < data.n; i++) {
      const sure = (data.confidence[i] - low) / (high - low || 1);
      this.level[i] = Math.max(0, Math.min(LEVELS - 1, Math.floor(sure * LEVELS)));
    }
    this.labelled = [];
    for (let i = 0; i < data.n; i++) if (data.given[i] >= 0) this.labelled.push(i);
    this.extent = extentOf(data.places);
    this.hovered = -1;
    this.selected = -1;
    this.beside = new Uint32Array(0); // neighbours of the selected one
    this.onmove = () => {};
    this.pending = 0;
    this.late = 0; // frames that came late of late
  }

  // Colours by group: group[i] is a number below colours.length, shown[g] tells whether it is drawn.
  colourBy(group, colours, shown) {
    Object.assign(this, { group, shown, colours: Uint32Array.from(colours, pixelOf), names: colours });
    this.redraw();
  }

  accept = (i) => this.shown[this.group[i]] === 1;

  // ---- places ------------------------------------------------------------------

  resize() {
    const { width, height } = this.box.getBoundingClientRect();
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.sharp = Math.min(2, window.devicePixelRatio || 1);
    fitTo(this.marks, this.width * this.sharp, this.height * this.sharp);
    this.side = Math.max(40, Math.min((this.width - 32) / this.extent[0], (this.height - 32) / this.extent[1]));
    this.redraw();
  }

  // The unit square's side on the screen.
  get scale() { return this.side * this.view.zoom; }

  screenOf(i) {
    return [
      (this.data.places[2 * i] / FULL - this.view.x) * this.scale + this.width / 2,
      (this.data.places[2 * i + 1] / FULL - this.view.y) * this.scale + this.height / 2,
    ];
  }

  placeOf(x, y) {
    return [(x - this.width / 2) / this.scale + this.view.x, (y - this.height / 2) / this.scale + this.view.y];
  }

  pointAt(x, y, reach) {
    const [u, v] = this.placeOf(x, y);
    return this.grid.nearest(u, v, reach / this.scale, this.accept);
  }

  // ---- moving ------------------------------------------------------------------

  pan(dx, dy) {
    this.look(this.view.zoom, this.view.x - dx / this.scale, this.view.y - dy / this.scale);
  }

  // Zooms so that what is under (x, y) stays there.
  zoomAt(factor, x = this.width / 2, y = this.height / 2) {
    const [u, v] = this.placeOf(x, y);
    const zoom = Math.max(0.6, Math.min(CLOSEST, this.view.zoom * factor));
    const scale = this.side * zoom;
    this.look(zoom, u - (x - this.width / 2) / scale, v - (y - this.height / 2) / scale);
  }

  look(zoom, x, y) {
    this.view = { zoom, x: Math.max(-0.2, Math.min(1.2, x)), y: Math.max(-0.2, Math.min(1.2, y)) };
    this.points.classList.toggle("zoomed", zoom > 1.01);
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.moving = false;
      if (this.ratio < this.sharp) this.redraw();
    }, 160);
    this.redraw();
    this.onmove();
  }

  // Glides to another view; at once for those who asked for less motion.
  glide(zoom, x, y) {
    const from = this.view, began = performance.now();
    const quiet = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const run = this.gliding = {};
    const step = (now) => {
      if (this.gliding !== run) return;
      const part = quiet ? 1 : Math.min(1, Math.max(0, now - began) / 350);
      const eased = 1 - (1 - part) ** 3;
      this.look(from.zoom * (zoom / from.zoom) ** eased, from.x + (x - from.x) * eased, from.y + (y - from.y) * eased);
      if (part < 1) requestAnimationFrame(step);
      else this.gliding = null;
    };
    requestAnimationFrame(step);
  }

  reset() { this.glide(1, 0.5, 0.5); }

  centre(i) {
    this.glide(Math.max(this.view.zoom, 3), this.data.places[2 * i] / FULL, this.data.places[2 * i + 1] / FULL);
  }

  stop() { this.gliding = null; }

  // ---- drawing -----------------------------------------------------------------

  redraw() { this.schedule(2); }
  remark() { this.schedule(1); }

  // One drawing a frame, however many events ask for it: 1 marks only, 2 everything.
  schedule(what) {
    if (!this.pending) {
      requestAnimationFrame((now) => {
        this.watch(now);
        const wanted = this.pending;
        this.pending = 0;
        if (!this.group || !this.width) return;
        if (wanted === 2) this.draw();
        this.drawMarks();
      });
    }
    this.pending = Math.max(this.pending, what);
  }

  // A screen of fine pixels that cannot be filled in time is drawn coarser until the map comes to rest. What counts
  // is when frames come, not how long drawing takes: the browser has work of its own with every new picture.
  watch(now) {
    if (this.moving && this.ratio > 1) {
      const late = this.frame && now - this.frame > 24 && now - this.frame < 1000;
      this.late = late ? this.late + 1 : Math.max(0, this.late - 0.1);
      if (this.late >= 2) this.slow = true;
    }
    this.frame = this.moving ? now : 0;
  }

  // Radius of a point in CSS pixels: smaller where there are many, larger as one comes closer.
  get radius() {
    const room = Math.sqrt(Math.min(1.2, Math.min(this.width, this.height) / 600));
    const far = room * Math.max(1.3, Math.min(4.2, 26 / this.data.n ** 0.26));
    return Math.min(9, far * Math.max(1, this.view.zoom) ** 0.3);
  }

  draw() {
    const ratio = this.ratio = this.moving && this.slow ? 1 : this.sharp;
    fitTo(this.points, this.width * ratio, this.height * ratio);
    this.paint(ratio);
  }

  paint(ratio) {
    const { painter, data, group, shown, colours, level } = this;
    const radius = this.radius * ratio;
    const style = getComputedStyle(document.documentElement);
    painter.resize(this.points.width, this.points.height, Math.ceil(2 * radius) + 8);
    painter.clear(pixelOf(style.getPropertyValue("--map")));
    const made = [];
    for (let l = 0; l < LEVELS; l++) {
      const sure = (l + 0.5) / LEVELS;
      made.push(this.fade ? painter.stamp(radius * (0.62 + 0.45 * sure), 0, 0.25 + 0.7 * sure) : painter.stamp(radius, 0, 0.9));
    }
    const scale = this.scale * ratio / FULL;
    const left = this.points.width / 2 - this.view.x * this.scale * ratio;
    const top = this.points.height / 2 - this.view.y * this.scale * ratio;
    const places = data.places;
    for (let i = 0; i < data.n; i++) {
      if (shown[group[i]]) painter.disc(left + places[2 * i] * scale, top + places[2 * i + 1] * scale, made[level[i]], colours[group[i]]);
    }
    const disc = painter.stamp(radius * 1.05, 0, 1);
    const ring = painter.stamp(radius * 1.05 + 1.4 * ratio, radius * 1.05, 1);
    const ink = pixelOf(style.getPropertyValue("--ink"));
    for (const i of this.labelled) {
      if (!shown[group[i]]) continue;
      const x = left + places[2 * i] * scale, y = top + places[2 * i + 1] * scale;
      painter.disc(x, y, disc, colours[group[i]]);
      painter.disc(x, y, ring, ink);
    }
    painter.show();
  }

  drawMarks() {
    const { over, sharp } = this;
    const style = getComputedStyle(document.documentElement);
    over.setTransform(sharp, 0, 0, sharp, 0, 0);
    over.clearRect(0, 0, this.width, this.height);
    over.strokeStyle = style.getPropertyValue("--accent").trim();
    if (this.selected >= 0) {
      const [x, y] = this.screenOf(this.selected);
      over.globalAlpha = 0.45;
      over.lineWidth = 1;
      over.beginPath();
      for (const i of this.beside) { over.moveTo(x, y); over.lineTo(...this.screenOf(i)); }
      over.stroke();
      over.globalAlpha = 1;
      for (const i of this.beside) this.mark(i, 2, 2);
      this.mark(this.selected, 5, 3.5);
    }
    over.strokeStyle = style.getPropertyValue("--ink").trim();
    if (this.hovered >= 0 && this.hovered !== this.selected) this.mark(this.hovered, 3, 2);
  }

  // A ring about a point, with a gap that sets it off from whatever colour is below.
  mark(i, gap, width) {
    const [x, y] = this.screenOf(i), { over } = this;
    const style = getComputedStyle(document.documentElement);
    const disc = (radius, colour) => {
      over.beginPath();
      over.arc(x, y, radius, 0, 2 * Math.PI);
      over.fillStyle = colour.trim();
      over.fill();
    };
    disc(this.radius + gap, style.getPropertyValue("--map"));
    over.lineWidth = width;
    over.stroke();
    disc(this.radius + gap - 2, this.names[this.group[i]]);
  }
}
