// The data of the page as typed arrays; entry i belongs to point i of the map.

const ARRAYS = {
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, int16: Int16Array, int32: Int32Array, float32: Float32Array,
};

function unpack(pack) {
  const text = atob(pack.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new ARRAYS[pack.type](bytes.buffer);
}

function readData() {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  for (const name of ["coordinates", "topClasses", "topProbabilities", "labels", "truth", "evaluated"]) data[name] = unpack(data[name]);
  if (data.neighbours) {
    for (const name of ["degrees", "starts", "points"]) data.neighbours[name] = unpack(data.neighbours[name]);
  }
  data.predicted = new Uint16Array(data.n);
  data.confidence = new Float32Array(data.n);
  for (let i = 0; i < data.n; i++) {
    data.predicted[i] = data.topClasses[i * data.top];
    data.confidence[i] = data.topProbabilities[i * data.top] / 65535;
  }
  return data;
}

// A grid over the unit square, to find the nearest point without searching all of them.
class Grid {
  constructor(coordinates, n) {
    this.coordinates = coordinates;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(n / 2))));
    const cells = new Uint32Array(n);
    this.starts = new Uint32Array(this.side * this.side + 1);
    for (let i = 0; i < n; i++) {
      cells[i] = this.cell(coordinates[2 * i + 1] / 65535) * this.side + this.cell(coordinates[2 * i] / 65535);
      this.starts[cells[i] + 1]++;
    }
    for (let c = 0; c < this.side * this.side; c++) this.starts[c + 1] += this.starts[c];
    const next = this.starts.slice();
    this.points = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.points[next[cells[i]]++] = i;
  }

  cell(u) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(u * this.side)));
  }

  // The nearest point within the radius for which accept(i) is true, -1 if there is none.
  nearest(u, v, radius, accept) {
    let nearest = -1, best = radius * radius;
    for (let y = this.cell(v - radius); y <= this.cell(v + radius); y++) {
      const first = this.starts[y * this.side + this.cell(u - radius)];
      const last = this.starts[y * this.side + this.cell(u + radius) + 1];
      for (let k = first; k < last; k++) {
        const i = this.points[k];
        const dx = this.coordinates[2 * i] / 65535 - u, dy = this.coordinates[2 * i + 1] / 65535 - v;
        const distance = dx * dx + dy * dy;
        if (distance <= best && accept(i)) { best = distance; nearest = i; }
      }
    }
    return nearest;
  }
}
