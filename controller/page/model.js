// The model of the cluster: things by kind and name, and values; and what is computed from them alone.
const KINDS = ["nodes", "queues", "layouts", "waiting", "why"];

export function modelOf(document) {
  const model = { values: {} };
  for (const [name, value] of Object.entries(document)) if (!KINDS.includes(name)) model.values[name] = value;
  for (const kind of KINDS) model[kind] = new Map(Object.entries(document[kind] ?? {}));
  return model;
}

export function copyOf(model) {
  const copy = { values: { ...model.values } };
  for (const kind of KINDS) copy[kind] = new Map(model[kind]);
  return copy;
}

// Applies a change in the server's format: {set, gone, values}.
export function applyChange(model, { set = {}, gone = {}, values = {} }) {
  for (const [kind, things] of Object.entries(set))
    for (const [name, thing] of Object.entries(things)) {
      if (!model[kind]?.has(name)) orders.delete(model[kind]);
      model[kind]?.set(name, thing);
    }
  for (const [kind, names] of Object.entries(gone)) {
    orders.delete(model[kind]);
    for (const name of names) model[kind]?.delete(name);
  }
  Object.assign(model.values, values);
}

const byNumbers = new Intl.Collator("en", { numeric: true });
// Sorted names per map, kept until a name is added or removed: sorting thousands takes longer than drawing them.
const orders = new WeakMap();
export function inOrder(map) {
  if (!orders.has(map)) orders.set(map, [...map.keys()].sort(byNumbers.compare));
  return orders.get(map).map((name) => [name, map.get(name)]);
}

export const isOut = (node) => node.service !== "InService";
export const heldOf = (part) => part.held.reduce((sum, [, , count]) => sum + count, part.others ?? 0);
export const OTHERS = "(others)";  // no namespace has this name; for holders that the viewer may not read
export const shortResource = (resource) => resource.replace(/^nvidia\.com\//, "");

export function kindOf(part) {
  if (part.resource.endsWith(".shared")) return "shared";
  return part.resource.startsWith("nvidia.com/mig-") ? "MIG" : "whole";
}

export function standingOf(node) {
  const parts = node.parts.map((part) => `${heldOf(part)}/${part.offered} ${shortResource(part.resource)}`);
  return [node.rollout?.phase, isOut(node) ? node.service : "", parts.join(", ") || "offers no GPU"].filter(Boolean).join(" · ");
}

const words = new WeakMap();
export function wordsOf(name, node) {
  if (!words.has(node)) {
    const pods = node.parts.flatMap((part) => [part.resource, ...part.held.map(([namespace, pod, , queue]) => `${namespace}/${pod} ${queue ?? ""}`)]);
    words.set(node, [name, node.pool, node.product, node.service, node.rollout?.layout, node.rollout?.phase, ...pods]
      .join(" ").toLowerCase());
  }
  return words.get(node);
}

const NOT_NAMED = [OTHERS, ""];
const cellOf = (units, held, resource, busy) => ({ units, held, resource, busy });

// Measurements show which device each pod holds.
function seenColumns(node) {
  const unitsOf = new Map(node.parts.map((part) => [shortResource(part.resource), part.units]));
  const columns = new Map();
  for (const one of node.seen) {
    if (!columns.has(one.gpu)) columns.set(one.gpu, []);
    const units = one.profile ? unitsOf.get(`mig-${one.profile}`) || 1 : node.units;
    columns.get(one.gpu).push(cellOf(units, one.held?.[0] ?? (one.others ? NOT_NAMED : null), one.profile || "gpu", one.busy));
  }
  return [...columns].sort(([a], [b]) => byNumbers.compare(a, b)).map(([, cells]) => cells);
}

function devicesOf(part) {
  const held = part.held.flatMap(([namespace, pod, count]) => Array(Math.min(count, 64)).fill([namespace, pod]))
    .concat(Array(Math.min(part.others ?? 0, 64)).fill(NOT_NAMED));
  return Array.from({ length: Math.min(Math.max(part.offered, held.length), 64) }, (_, i) =>
    cellOf(part.units, held[i] ?? null, shortResource(part.resource)));
}

// The API server reports neither which device a pod holds nor where MIG instances are placed. The page draws the
// largest first, and held ones before free ones.
function packedColumns(node) {
  const columns = [];
  const free = [];
  const sized = node.parts.filter((part) => part.units > 0).sort((a, b) => b.units - a.units);
  for (const device of sized.flatMap(devicesOf)) {
    let place = free.findIndex((units) => units >= device.units);
    if (place < 0) {
      place = columns.push([]) - 1;
      free.push(node.units);
    }
    columns[place].push(device);
    free[place] -= device.units;
  }
  while (node.unused && columns.length < node.gpus) {
    columns.push([]);
    free.push(node.units);
  }
  if (node.unused) free.forEach((units, i) => { if (units > 0) columns[i].push({ ...cellOf(units, null, ""), unused: true }); });
  return columns;
}

// A node's GPUs as columns of cells, each with its memory units.
const columnsCache = new WeakMap();
export function columnsOf(node) {
  if (!columnsCache.has(node)) {
    const counted = node.seen && node.units && new Set(node.seen.map((one) => one.gpu)).size >= (node.gpus ?? 1);
    const columns = counted ? seenColumns(node) : node.units ? packedColumns(node) : [];
    for (const part of node.parts.filter((one) => !one.units && !counted))
      columns.push(...devicesOf(part).map((device) => [{ ...device, units: node.units || 8 }]));
    columnsCache.set(node, columns);
  }
  return columnsCache.get(node);
}

// Offered, held and (where measured) busy GPUs, as whole GPUs: by pool, or by the key that `holder` returns for the
// holder's namespace and queue.
export function useBy(model, keysOf) {
  const rows = new Map();
  const rowOf = (key) => {
    if (!rows.has(key)) rows.set(key, { offered: 0, whole: 0, MIG: 0, shared: 0, busy: 0, measured: 0 });
    return rows.get(key);
  };
  const keyOf = (node, namespace, queue) => keysOf.pool?.(node) ?? (namespace === OTHERS ? OTHERS : keysOf.holder(namespace, queue));
  for (const node of model.nodes.values()) {
    const queues = new Map(node.parts.flatMap(({ held }) => held.map(([namespace, pod, , queue]) => [`${namespace}/${pod}`, queue])));
    for (const part of node.parts) {
      const size = node.units && part.units ? part.units / node.units : kindOf(part) === "whole" ? 1 : 0;
      const pool = keysOf.pool?.(node);
      if (pool !== undefined) rowOf(pool).offered += size * part.offered;
      const holders = part.others ? [...part.held, [OTHERS, "", part.others]] : part.held;
      for (const [namespace, , count, queue] of holders) rowOf(keyOf(node, namespace, queue))[kindOf(part)] += size * count || count;
    }
    for (const one of node.seen ?? []) {
      if (one.busy === undefined) continue;
      const [namespace, pod] = one.held?.[0] ?? (one.others ? NOT_NAMED : []);
      if (!keysOf.pool && namespace === undefined) continue;
      const key = keyOf(node, namespace, queues.get(`${namespace}/${pod}`));
      rowOf(key).busy += one.busy;
      ++rowOf(key).measured;
    }
  }
  return rows;
}
