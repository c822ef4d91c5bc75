// Queues with their held, lent and borrowed GPUs, and pending workloads with reason and remedies.
import { at, element, isolated, Kept, linkTo, remediesOf, shareBar, tableOf } from "./dom.js";
import { inOrder } from "./model.js";
import { showStarts } from "./starts.js";
import { momentOf } from "./times.js";

const numberOf = (text) => Number(text) || 0;

// The cohort may borrow idle quota. The page shows how much a queue borrows, not from which queue.
function quotaRow(quota) {
  const nominal = numberOf(quota.nominal), used = numberOf(quota.used), borrowed = numberOf(quota.borrowed);
  const own = Math.max(0, used - borrowed), idle = Math.max(0, nominal - own);
  return [quota.pool, quota.resource, quota.nominal, quota.used, quota.borrowed, String(Math.round(idle * 100) / 100), quota.asked,
    shareBar([[own, "held"], [idle, "free"], [borrowed, "unused"], [numberOf(quota.asked), "asked"]],
      `${own} of its own, ${borrowed} borrowed, ${idle} idle, ${quota.asked} asked for`)];
}

function beginOf({ earliest, latest }) {
  if (!earliest) return "not known";
  if (!latest) return `not before ${momentOf(earliest)}`;
  return earliest === latest ? momentOf(earliest) : `${momentOf(earliest)} to ${momentOf(latest)}`;
}

// Workloads that the viewer may not list are only counted. A long queue lists only those that wait longest.
const waitsOf = ({ waits, pending }) => `${waits} waiting${pending.length < waits ? `, ${pending.length} of them listed here` : ""}`;

function queueOf(name, queue, former) {
  const box = element("details", { className: "thing" });
  box.open = former?.open ?? false;
  const standing = [`${queue.admitted} admitted`, waitsOf(queue), queue.cohort && `cohort ${queue.cohort}`,
    queue.stop !== "None" && queue.stop, queue.budget && `budget: ${queue.budget.used} GPU hours used, ${queue.budget.remaining} left`];
  box.append(element("summary", {}, isolated(name), ` · ${standing.filter(Boolean).join(" · ")}`));
  if (queue.ready && queue.ready.status !== "True") box.append(element("p", { name: `${queue.ready.reason}: ${queue.ready.message}` }));
  box.append(tableOf(["pool", "resource", "nominal", "used", "borrowed", "idle", "asked", "in all"], queue.quotas.map(quotaRow),
    "Own, idle (may be lent), borrowed, asked for"));
  if (queue.pending.length)
    box.append(tableOf(["place", "workload", "pods", "since", "begins", "reason", "why"], queue.pending.map((one) => [String(one.position),
      linkTo("job", one.workload), String(one.pods), momentOf(one.since), beginOf(one), one.reason, one.message]), "Waits, in order (times are UTC)"));
  return box;
}

function waitingOf(subject, item, former) {
  const box = element("details", {}, element("summary", {}, isolated(subject), " · ", isolated(item.reason)),
    element("p", { name: item.message }), ...remediesOf(item.remedies));
  box.open = former?.open ?? false;
  return box;
}

const MOST = 200;  // at most; the search narrows the list
const NONE_WAITS = { all: "Nothing waits for GPUs.", some: "Nothing waits for GPUs in the namespaces that you may read.",
  none: "You may not list pods and Jobs, so that it is not known which of them wait for GPUs." };

export class Queues {
  constructor() {
    this.queues = new Kept(at("queue-list"), queueOf, "There is no GPUQueue.");
    this.waiting = new Kept(at("waiting"), waitingOf, NONE_WAITS.all);
  }

  showStarts(model, wanted) {
    showStarts(model, (words) => words.toLowerCase().includes(wanted));
  }

  show(model, wanted) {
    const has = (words) => words.toLowerCase().includes(wanted);
    showStarts(model, has);
    this.queues.show(inOrder(model.queues), MOST);
    this.waiting.none = NONE_WAITS[model.values.waitingOf] ?? NONE_WAITS.all;
    this.waiting.show(inOrder(model.waiting).filter(([subject, item]) => has(`${subject} ${item.reason} ${item.message}`)), MOST);
  }
}
