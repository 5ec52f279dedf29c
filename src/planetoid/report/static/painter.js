// Draws discs into a block of pixels. A canvas asked for 100,000 arcs a frame stutters; adding ready-made
// stamps to an array does not, and costs the same with and without a graphics card.

const PHASES = 4; // places of a disc between two pixels, each way

// What a disc (or ring) covers of each pixel, for every phase: offsets to the pixel it stands in, and cover from 0 to 256.
function stamps(radius, inner, opacity) {
  const reach = Math.ceil(radius) + 1;
  const all = [];
  for (let phase = 0; phase < PHASES * PHASES; phase++) {
    const px = (phase % PHASES + 0.5) / PHASES, py = (Math.floor(phase / PHASES) + 0.5) / PHASES;
    const dx = [], dy = [], cover = [];
    for (let y = -reach; y <= reach; y++) {
      for (let x = -reach; x <= reach; x++) {
        const distance = Math.hypot(x + 0.5 - px, y + 0.5 - py);
        let part = Math.min(1, Math.max(0, radius + 0.5 - distance));
        if (inner > 0) part = Math.min(part, Math.max(0, distance - inner + 0.5));
        const amount = Math.round(256 * part * opacity);
        if (amount > 0) { dx.push(x); dy.push(y); cover.push(amount); }
      }
    }
    all.push({ dx: Int16Array.from(dx), dy: Int16Array.from(dy), cover: Uint16Array.from(cover), offsets: new Int32Array(dx.length) });
  }
  return { reach, phases: all };
}

class Painter {
  constructor(context) {
    this.context = context;
    this.margin = 0;
  }

  // Takes the size of the canvas and a margin, so that a disc at the edge needs no test for each of its pixels.
  resize(width, height, margin) {
    if (this.image && this.width === width && this.height === height && this.margin >= margin) return;
    Object.assign(this, { width, height, margin, kept: new Map() });
    this.stride = width + 2 * margin;
    this.image = new ImageData(this.stride, height + 2 * margin);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  // Returns stamps fit for the width of the block, those of the last views from memory.
  stamp(radius, inner, opacity) {
    const key = `${radius} ${inner} ${opacity}`;
    if (!this.kept.has(key)) {
      if (this.kept.size > 100) this.kept.clear();
      const made = stamps(radius, inner, opacity);
      for (const one of made.phases) {
        for (let k = 0; k < one.offsets.length; k++) one.offsets[k] = one.dy[k] * this.stride + one.dx[k];
      }
      this.kept.set(key, made);
    }
    return this.kept.get(key);
  }

  clear(colour) {
    this.pixels.fill(colour);
  }

  disc(x, y, stamp, colour) {
    const column = Math.floor(x), row = Math.floor(y);
    if (column < -stamp.reach || row < -stamp.reach || column >= this.width + stamp.reach || row >= this.height + stamp.reach) return;
    const phase = Math.floor((y - row) * PHASES) * PHASES + Math.floor((x - column) * PHASES);
    const { offsets, cover } = stamp.phases[phase];
    const base = (row + this.margin) * this.stride + column + this.margin;
    const pixels = this.pixels;
    const redBlue = colour & 0xff00ff, green = colour & 0x00ff00;
    for (let k = 0; k < offsets.length; k++) {
      const at = base + offsets[k], part = cover[k];
      if (part === 256) { pixels[at] = colour; continue; }
      const below = pixels[at], rest = 256 - part;
      const mixed = ((redBlue * part + (below & 0xff00ff) * rest) >>> 8) & 0xff00ff;
      pixels[at] = 0xff000000 | mixed | (((green * part + (below & 0x00ff00) * rest) >>> 8) & 0x00ff00);
    }
  }

  show() {
    this.context.putImageData(this.image, -this.margin, -this.margin);
  }
}

// "#rrggbb" as the 32 bits of a pixel.
function pixelOf(hex) {
  const value = parseInt(hex.trim().slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}
