// Draws discs into an array of pixels. Drawing 100,000 arcs per frame on a canvas stutters; blending precomputed
// stamps into an array does not, and is as fast without a graphics card.

const PHASES = 4; // subpixel positions per axis

// The coverage of pixels by a disc or ring for every subpixel position: offsets from its pixel, and coverage from 0 to 256.
function makeStamps(radius, inner, opacity) {
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

  // The margin saves bounds checks for the pixels of discs at the edge.
  resize(width, height, margin) {
    if (this.image && this.width === width && this.height === height && this.margin >= margin) return;
    Object.assign(this, { width, height, margin, cache: new Map() });
    this.stride = width + 2 * margin;
    this.image = new ImageData(this.stride, height + 2 * margin);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  // Returns stamps with offsets for the current width; recent ones are cached.
  stamp(radius, inner, opacity) {
    const key = `${radius} ${inner} ${opacity}`;
    if (!this.cache.has(key)) {
      if (this.cache.size > 100) this.cache.clear();
      const stamp = makeStamps(radius, inner, opacity);
      for (const one of stamp.phases) {
        for (let k = 0; k < one.offsets.length; k++) one.offsets[k] = one.dy[k] * this.stride + one.dx[k];
      }
      this.cache.set(key, stamp);
    }
    return this.cache.get(key);
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
