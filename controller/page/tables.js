// Rollouts, allocation and utilization, and costs, as tables.
import { at, element, isolated, linkTo, shareBar, tableOf } from "./dom.js";
import { inOrder, useBy } from "./model.js";

function layoutOf(name, layout) {
  const parts = [["updated", layout.updated], ["in progress", layout.inProgress], ["blocked", layout.blocked],
    ["failed", layout.failed], ["pending", layout.pending]];
  const told = parts.filter(([, count]) => count).map(([word, count]) => `${count} ${word}`).join(", ");
  const box = element("div", { className: "thing" }, element("h3", {}, isolated(name)),
    element("p", { text: `${layout.selected} nodes: ${told || "none selected"}` }),
    shareBar([[layout.updated, "held"], [layout.inProgress, "unused"], [layout.blocked + layout.failed, "bad"],
      [layout.pending, "free"]], told || "none"));
  if (layout.ready && layout.ready.status !== "True")
    box.append(element("p", { name: `${layout.ready.reason}: ${layout.ready.message}` }));
  return box;
}

function rolloutRows(model) {
  const rows = new Map();
  for (const [name, layout] of inOrder(model.layouts))
    for (const detail of layout.details)
      rows.set(detail.node, [linkTo("node", detail.node), name, detail.phase, detail.since ?? "",
        [detail.reason, detail.message].filter(Boolean).join(": ")]);
  for (const [name, node] of inOrder(model.nodes))
    if (node.rollout && !rows.has(name))
      rows.set(name, [linkTo("node", name), node.rollout.layout, node.rollout.phase, node.rollout.since, node.rollout.why]);
  return [...rows.values()];
}

export function showRollouts(model) {
  const rows = rolloutRows(model);
  at("rollout-list").replaceChildren(...inOrder(model.layouts).map(([name, layout]) => layoutOf(name, layout)),
    rows.length ? tableOf(["node", "layout", "phase", "since", "what holds it"], rows, "Nodes on their way")
      : element("p", { text: "No node is on its way to another layout." }));
}

const amount = (value) => (Math.round(value * 100) / 100).toString();

function useTable(caption, what, rows) {
  const cells = [...rows].sort(([, a], [, b]) => b.whole + b.MIG + b.shared - a.whole - a.MIG - a.shared)
    .map(([name, row]) => {
      const held = row.whole + row.MIG + row.shared;
      const busy = row.measured ? `${Math.round(row.busy / row.measured)} %` : "not measured";
      const of = row.offered || held || 1;
      return [name || "none", row.offered ? amount(row.offered) : "", amount(row.whole), amount(row.MIG), amount(row.shared),
        shareBar([[Math.min(held, of) / of, "held"], [Math.max(0, of - held) / of, "free"]], `${amount(held)} of ${amount(of)} held`),
        busy, shareBar(row.measured ? [[row.busy / row.measured, "busy"], [100 - row.busy / row.measured, "free"]] : [[1, "free"]],
          `busy: ${busy}`)];
    });
  return tableOf([what, "offered", "whole", "MIG", "shared", "held", "busy", "how busy"], cells, caption);
}

// In whole GPUs; devices of unknown size count as one each.
export function showUse(model) {
  const pools = useBy(model, { pool: (node) => node.pool }), teams = useBy(model, { holder: (namespace) => namespace });
  const queues = useBy(model, { holder: (_, queue) => queue ?? "" });
  const { pools: table } = model.values;
  at("use-tables").replaceChildren(
    pools.size ? useTable("GPUs by pool", "pool", pools) : element("p", { text: "No node has GPUs." }),
    ...(teams.size ? [useTable("GPUs by team", "namespace", teams)] : []),
    ...(model.queues.size && queues.size ? [useTable("GPUs by queue", "queue", queues)] : []),
    ...(table?.rows.length ? [topTable(table, "Pools and quotas")] : []));
}

const topTable = ({ columns, rows }, caption) => tableOf(columns.map((column) => column.toLowerCase()), rows, caption);

export function showCosts(model) {
  const { costs, poolCosts } = model.values;
  const tables = [[costs, "By team"], [poolCosts, "By pool"]].filter(([table]) => table?.rows.length);
  at("cost-tables").replaceChildren(...(tables.length ? tables.map(([table, caption]) => topTable(table, caption))
    : [element("p", { text: "No pool has a price." })]));
}
