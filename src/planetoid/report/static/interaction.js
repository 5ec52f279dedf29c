// Mouse, touch and keyboard input on the map.

const TAP_TOLERANCE = 6; // pixels that a pointer may move during a click or tap

function attachInteraction(map, canvas, { hover, pick }) {
  const pointers = new Map(); // positions of the pointers that are down
  let moved = 0, pinch = null, scrolledAt = -Infinity;

  const positionOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const measurePinch = () => {
    const [a, b] = [...pointers.values()];
    return { distance: Math.hypot(a[0] - b[0], a[1] - b[1]), centre: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] };
  };

  canvas.addEventListener("pointerdown", (event) => {
    map.stop();
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, positionOf(event));
    if (pointers.size === 1) moved = 0;
    if (pointers.size === 2) { pinch = measurePinch(); moved = TAP_TOLERANCE; }
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = positionOf(event), before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") hover(x, y);
      return;
    }
    pointers.set(event.pointerId, [x, y]);
    if (pointers.size === 2) {
      const now = measurePinch();
      map.pan(now.centre[0] - pinch.centre[0], now.centre[1] - pinch.centre[1]);
      map.zoomAt(now.distance / Math.max(1, pinch.distance), ...now.centre);
      pinch = now;
      return;
    }
    moved += Math.hypot(x - before[0], y - before[1]);
    if (moved >= TAP_TOLERANCE) {
      canvas.classList.add("dragging");
      hover(-1, -1);
      map.pan(x - before[0], y - before[1]);
    }
  });

  const up = (event) => {
    const position = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    canvas.classList.remove("dragging");
    if (position && event.type === "pointerup" && moved < TAP_TOLERANCE && pointers.size === 0) pick(...position, event.pointerType === "mouse" ? 10 : 22);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hover(-1, -1); });
  canvas.addEventListener("dblclick", (event) => map.zoomAt(1.8, ...positionOf(event)));

  // Scrolling that started outside of the map continues to scroll the page.
  document.addEventListener("wheel", (event) => { if (event.target !== canvas) scrolledAt = event.timeStamp; }, { passive: true });
  canvas.addEventListener("wheel", (event) => {
    if (event.timeStamp - scrolledAt < 250) { scrolledAt = event.timeStamp; return; }
    event.preventDefault();
    map.stop();
    const lines = event.deltaMode === 1 ? 16 : 1;
    map.zoomAt(Math.exp(-Math.max(-200, Math.min(200, event.deltaY * lines)) * 0.0022), ...positionOf(event));
  }, { passive: false });

  canvas.addEventListener("keydown", (event) => {
    const step = 60, actions = {
      ArrowLeft: () => map.pan(step, 0), ArrowRight: () => map.pan(-step, 0),
      ArrowUp: () => map.pan(0, step), ArrowDown: () => map.pan(0, -step),
      "+": () => map.zoomAt(1.4), "=": () => map.zoomAt(1.4), "-": () => map.zoomAt(1 / 1.4), 0: () => map.reset(),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    map.stop();
    actions[event.key]();
  });
}
