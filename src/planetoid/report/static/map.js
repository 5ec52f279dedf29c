// The map: view, animation and drawing.

const FULL = 65535;
const LEVELS = 8; // of confidence, drawn as size and opacity
const MAX_ZOOM = 200; // 1 shows the whole map

// Width and height of the map relative to the unit square, in which it is centred.
function extentOf(coordinates) {
  const low = [FULL, FULL], high = [0, 0];
  for (let k = 0; k < coordinates.length; k++) {
    low[k % 2] = Math.min(low[k % 2], coordinates[k]);
    high[k % 2] = Math.max(high[k % 2], coordinates[k]);
  }
  return [0, 1].map((k) => Math.max(0.05, (high[k] - low[k]) / FULL));
}

function resizeCanvas(canvas, width, height) {
  if (canvas.width !== Math.round(width)) canvas.width = Math.round(width);
  if (canvas.height !== Math.round(height)) canvas.height = Math.round(height);
}

class NodeMap {
  constructor(data, box, points, marks) {
    Object.assign(this, { data, box, points, marks });
    this.painter = new Painter(points.getContext("2d", { alpha: false }));
    this.over = marks.getContext("2d");
    this.grid = new Grid(data.coordinates, data.n);
    this.view = { zoom: 1, x: 0.5, y: 0.5 }; // x and y are at the centre of the canvas
    this.fade = true;
    this.level = new Uint8Array(data.n);
    // Confidence relative to the other nodes: the maps of underconfident methods would be all faint.
    const sorted = data.confidence.slice().sort();
    const low = sorted[Math.floor(0.05 * (data.n - 1))], high = sorted[Math.ceil(0.95 * (data.n - 1))];
    for (let i = 0; i < data.n; i++) {
      const relative = (data.confidence[i] - low) / (high - low || 1);
      this.level[i] = Math.max(0, Math.min(LEVELS - 1, Math.floor(relative * LEVELS)));
    }
    this.labelled = [];
    for (let i = 0; i < data.n; i++) if (data.labels[i] >= 0) this.labelled.push(i);
    this.extent = extentOf(data.coordinates);
    this.hovered = -1;
    this.selected = -1;
    this.neighbours = new Uint32Array(0); // of the selected node
    this.onmove = () => {};
    this.pending = 0;
    this.slowFrames = 0; // recent frames that took too long
  }

  // Colours nodes by group: colours[group[i]] is the colour of node i, shown[g] says whether group g is drawn.
  colourBy(group, colours, shown) {
    Object.assign(this, { group, shown, colours: Uint32Array.from(colours, pixelOf), names: colours });
    this.redraw();
  }

  accept = (i) => this.shown[this.group[i]] === 1;

  // ---- coordinates ------------------------------------------------------------------

  resize() {
    const { width, height } = this.box.getBoundingClientRect();
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.sharp = Math.min(2, window.devicePixelRatio || 1);
    resizeCanvas(this.marks, this.width * this.sharp, this.height * this.sharp);
    this.side = Math.max(40, Math.min((this.width - 32) / this.extent[0], (this.height - 32) / this.extent[1]));
    this.redraw();
  }

  // The unit square's side on the screen.
  get scale() { return this.side * this.view.zoom; }

  screenOf(i) {
    return [
      (this.data.coordinates[2 * i] / FULL - this.view.x) * this.scale + this.width / 2,
      (this.data.coordinates[2 * i + 1] / FULL - this.view.y) * this.scale + this.height / 2,
    ];
  }

  unitOf(x, y) {
    return [(x - this.width / 2) / this.scale + this.view.x, (y - this.height / 2) / this.scale + this.view.y];
  }

  pointAt(x, y, radius) {
    const [u, v] = this.unitOf(x, y);
    return this.grid.nearest(u, v, radius / this.scale, this.accept);
  }

  // ---- view ------------------------------------------------------------------

  pan(dx, dy) {
    this.setView(this.view.zoom, this.view.x - dx / this.scale, this.view.y - dy / this.scale);
  }

  // Zooms about (x, y), which stays in place.
  zoomAt(factor, x = this.width / 2, y = this.height / 2) {
    const [u, v] = this.unitOf(x, y);
    const zoom = Math.max(0.6, Math.min(MAX_ZOOM, this.view.zoom * factor));
    const scale = this.side * zoom;
    this.setView(zoom, u - (x - this.width / 2) / scale, v - (y - this.height / 2) / scale);
  }

  setView(zoom, x, y) {
    this.view = { zoom, x: Math.max(-0.2, Math.min(1.2, x)), y: Math.max(-0.2, Math.min(1.2, y)) };
    this.points.classList.toggle("zoomed", zoom > 1.01);
    this.moving = true;
    clearTimeout(this.restTimer);
    this.restTimer = setTimeout(() => {
      this.moving = false;
      if (this.ratio < this.sharp) this.redraw();
    }, 160);
    this.redraw();
    this.onmove();
  }

  // Animates the change to another view; immediate for readers who prefer reduced motion.
  animateTo(zoom, x, y) {
    const from = this.view, started = performance.now();
    const immediate = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const current = this.animation = {};
    const step = (now) => {
      if (this.animation !== current) return;
      const part = immediate ? 1 : Math.min(1, Math.max(0, now - started) / 350);
      const eased = 1 - (1 - part) ** 3;
      this.setView(from.zoom * (zoom / from.zoom) ** eased, from.x + (x - from.x) * eased, from.y + (y - from.y) * eased);
      if (part < 1) requestAnimationFrame(step);
      else this.animation = null;
    };
    requestAnimationFrame(step);
  }

  reset() { this.animateTo(1, 0.5, 0.5); }

  centre(i) {
    this.animateTo(Math.max(this.view.zoom, 3), this.data.coordinates[2 * i] / FULL, this.data.coordinates[2 * i + 1] / FULL);
  }

  stop() { this.animation = null; }

  // ---- drawing -----------------------------------------------------------------

  redraw() { this.schedule(2); }
  redrawMarks() { this.schedule(1); }

  // Draws at most once per frame: 1 is marks only, 2 is everything.
  schedule(layers) {
    if (!this.pending) {
      requestAnimationFrame((now) => {
        this.trackFrameTimes(now);
        const layers = this.pending;
        this.pending = 0;
        if (!this.group || !this.width) return;
        if (layers === 2) this.draw();
        this.drawMarks();
      });
    }
    this.pending = Math.max(this.pending, layers);
  }

  // If frames are late on a high-resolution screen, the map is drawn at a lower resolution while it moves. The time
  // between frames is what counts, not the time of drawing: the browser has work of its own for every frame.
  trackFrameTimes(now) {
    if (this.moving && this.ratio > 1) {
      const late = this.lastFrame && now - this.lastFrame > 24 && now - this.lastFrame < 1000;
      this.slowFrames = late ? this.slowFrames + 1 : Math.max(0, this.slowFrames - 0.1);
      if (this.slowFrames >= 2) this.coarse = true;
    }
    this.lastFrame = this.moving ? now : 0;
  }

  // Radius of a point in CSS pixels: smaller for many points, larger when zoomed in.
  get radius() {
    const room = Math.sqrt(Math.min(1.2, Math.min(this.width, this.height) / 600));
    const far = room * Math.max(1.3, Math.min(4.2, 26 / this.data.n ** 0.26));
    return Math.min(9, far * Math.max(1, this.view.zoom) ** 0.3);
  }

  draw() {
    const ratio = this.ratio = this.moving && this.coarse ? 1 : this.sharp;
    resizeCanvas(this.points, this.width * ratio, this.height * ratio);
    this.paint(ratio);
  }

  paint(ratio) {
    const { painter, data, group, shown, colours, level } = this;
    const radius = this.radius * ratio;
    const style = getComputedStyle(document.documentElement);
    painter.resize(this.points.width, this.points.height, Math.ceil(2 * radius) + 8);
    painter.clear(pixelOf(style.getPropertyValue("--map")));
    const stamps = [];
    for (let l = 0; l < LEVELS; l++) {
      const confidence = (l + 0.5) / LEVELS;
      stamps.push(this.fade ? painter.stamp(radius * (0.58 + 0.42 * confidence), 0, 0.25 + 0.7 * confidence) : painter.stamp(radius, 0, 0.9));
    }
    const scale = this.scale * ratio / FULL;
    const left = this.points.width / 2 - this.view.x * this.scale * ratio;
    const top = this.points.height / 2 - this.view.y * this.scale * ratio;
    const { coordinates } = data;
    for (let i = 0; i < data.n; i++) {
      if (shown[group[i]]) painter.disc(left + coordinates[2 * i] * scale, top + coordinates[2 * i + 1] * scale, stamps[level[i]], colours[group[i]]);
    }
    const disc = painter.stamp(radius * 1.05, 0, 1);
    const ring = painter.stamp(radius * 1.05 + 1.4 * ratio, radius * 1.05, 1);
    const ink = pixelOf(style.getPropertyValue("--ink"));
    for (const i of this.labelled) {
      if (!shown[group[i]]) continue;
      const x = left + coordinates[2 * i] * scale, y = top + coordinates[2 * i + 1] * scale;
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
      for (const i of this.neighbours) { over.moveTo(x, y); over.lineTo(...this.screenOf(i)); }
      over.stroke();
      over.globalAlpha = 1;
      for (const i of this.neighbours) this.mark(i, 2, 2);
      this.mark(this.selected, 5, 3.5);
    }
    over.strokeStyle = style.getPropertyValue("--ink").trim();
    if (this.hovered >= 0 && this.hovered !== this.selected) this.mark(this.hovered, 3, 2);
  }

  // A ring around a point, with a gap that separates it from the colours below.
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
