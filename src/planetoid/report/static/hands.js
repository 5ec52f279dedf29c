// Mouse, touch and keys on the map.

const TAP = 6; // pixels that a finger may slip in a tap

function handle(map, canvas, { hover, pick }) {
  const down = new Map(); // pointers that are down
  let moved = 0, apart = 0, outside = -Infinity;

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [a, b] = [...down.values()];
    return { distance: Math.hypot(a[0] - b[0], a[1] - b[1]), middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  };

  canvas.addEventListener("pointerdown", (event) => {
    map.stop();
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    if (down.size === 1) moved = 0;
    if (down.size === 2) { apart = spread(); moved = TAP; }
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event), before = down.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") hover(x, y);
      return;
    }
    down.set(event.pointerId, [x, y]);
    if (down.size === 2) {
      const now = spread();
      map.pan(now.middle[0] - apart.middle[0], now.middle[1] - apart.middle[1]);
      map.zoomAt(now.distance / Math.max(1, apart.distance), ...now.middle);
      apart = now;
      return;
    }
    moved += Math.hypot(x - before[0], y - before[1]);
    if (moved >= TAP) {
      canvas.classList.add("dragging");
      hover(-1, -1);
      map.pan(x - before[0], y - before[1]);
    }
  });

  const up = (event) => {
    const place = down.get(event.pointerId);
    down.delete(event.pointerId);
    canvas.classList.remove("dragging");
    if (place && event.type === "pointerup" && moved < TAP && down.size === 0) pick(...place, event.pointerType === "mouse" ? 10 : 22);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hover(-1, -1); });
  canvas.addEventListener("dblclick", (event) => map.zoomAt(1.8, ...at(event)));

  // A wheel that began to turn above or below the map goes on moving the page.
  document.addEventListener("wheel", (event) => { if (event.target !== canvas) outside = event.timeStamp; }, { passive: true });
  canvas.addEventListener("wheel", (event) => {
    if (event.timeStamp - outside < 250) { outside = event.timeStamp; return; }
    event.preventDefault();
    map.stop();
    const lines = event.deltaMode === 1 ? 16 : 1;
    map.zoomAt(Math.exp(-Math.max(-200, Math.min(200, event.deltaY * lines)) * 0.0022), ...at(event));
  }, { passive: false });

  canvas.addEventListener("keydown", (event) => {
    const step = 60, acts = {
      ArrowLeft: () => map.pan(step, 0), ArrowRight: () => map.pan(-step, 0),
      ArrowUp: () => map.pan(0, step), ArrowDown: () => map.pan(0, -step),
      "+": () => map.zoomAt(1.4), "=": () => map.zoomAt(1.4), "-": () => map.zoomAt(1 / 1.4), 0: () => map.reset(),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    map.stop();
    acts[event.key]();
  });
}
