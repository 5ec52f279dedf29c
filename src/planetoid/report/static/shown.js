// Names of nodes and other columns that are shown beside their ids.

function nameOf(data, i) {
  return (data.shown.length && data.shown[0].cells[i]) || data.ids[i];
}

// The id of a node that has a name, and its other columns.
function shownLines(data, i) {
  if (!data.shown.length) return [];
  const named = data.shown[0].cells[i] ? [["id", data.ids[i]]] : [];
  const cells = data.shown.slice(1).map(({ name, cells }) => [name, cells[i]]).filter(([, cell]) => cell);
  return [...named, ...cells].map(([name, cell]) => element("p", "detail shown", element("span", "", name), " ", element("strong", "", cell)));
}
