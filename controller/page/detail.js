// One node, pod or Job: its facts and its explanation, with remedies as commands to copy.
import { at, element, isolated, lineToCopy, linkTo, remediesOf, tableOf } from "./dom.js";
import { OTHERS, shortResource } from "./model.js";

const factOf = ([fact, told]) => element("p", {}, element("b", { text: fact + ": " }), isolated(told));

function nodeFacts(node) {
  const facts = [["Pool", node.pool || "none"], ["GPUs", node.gpus ? `${node.gpus} × ${node.product}` : "unknown"],
    ["Service", node.service]];
  if (node.rollout) facts.push(["Rollout", `${node.rollout.layout}: ${node.rollout.phase} since ${node.rollout.since}`]);
  if (node.rollout?.why) facts.push(["Trouble", node.rollout.why]);
  if (node.unused) facts.push(["In no slice", `${node.unused} memory units`]);
  return facts.map(factOf);
}

function busyOf(node, namespace, pod) {
  const seen = (node.seen ?? []).filter((one) => one.busy !== undefined && one.held?.some(([ns, name]) => ns === namespace && name === pod));
  return seen.length ? `${Math.round(seen.reduce((sum, one) => sum + one.busy, 0) / seen.length)} %` : "";
}

function nodeDetail(node) {
  const held = node.parts.flatMap((part) => part.held.map(([namespace, pod, count]) => [namespace,
    linkTo("pod", `${namespace}/${pod}`, pod), shortResource(part.resource), String(count), busyOf(node, namespace, pod)]));
  for (const part of node.parts)
    if (part.others) held.push([OTHERS, "", shortResource(part.resource), String(part.others), ""]);
  return [...nodeFacts(node), held.length ? tableOf(["namespace", "pod", "resource", "count", "busy"], held, "Who holds its GPUs")
    : element("p", { text: "Nobody holds its GPUs." })];
}

function podDetail(model, name) {
  for (const [node, { parts }] of model.nodes)
    for (const part of parts)
      for (const [namespace, pod, count] of part.held)
        if (`${namespace}/${pod}` === name)
          return [element("p", {}, element("b", { text: "Holds: " }), `${count} ${shortResource(part.resource)} on `, linkTo("node", node))];
  return [];
}

function explained(why) {
  return [element("p", { name: why.message }),
    ...(why.facts ?? []).map((fact) => factOf([fact.topic, fact.message])), ...remediesOf(why.remedies ?? [])];
}

// The object that a link names: #node/NAME, #pod/NAMESPACE/NAME, #job/NAMESPACE/NAME.
export function subjectIn(hash) {
  try {
    const [, kind, name] = /^#(node|pod|job)\/(.+)$/.exec(hash) ?? [];
    return kind ? { kind, name: name.split("/").map(decodeURIComponent).join("/") } : null;
  } catch {
    return null;  // not a valid link, for example typed by hand
  }
}

const KIND = { node: "Node", pod: "Pod", job: "Job" };

export class Detail {
  constructor(askWhy) {
    Object.assign(this, { askWhy, answers: new Map() });
  }

  // `moved`: the user has just followed a link here.
  async show(model, subject, moved) {
    at("one").hidden = !subject;
    if (!subject) return;
    const { kind, name } = subject;
    const node = kind === "node" ? model.nodes.get(name) : undefined;
    at("one-title").replaceChildren(`${KIND[kind]} `, isolated(name));
    const body = node ? nodeDetail(node) : kind === "pod" ? podDetail(model, name) : [];
    const why = element("div", { "aria-live": "polite" });
    at("detail").replaceChildren(...body, element("h3", { text: "Why" }), why, lineToCopy(`berth why ${kind} ${name}`));
    if (moved) at("one-title").focus();
    const told = model.why.get(`${KIND[kind]}/${name}`) ?? model.waiting.get(`${KIND[kind]}/${name}`);
    if (told) return why.replaceChildren(...explained(told));
    why.replaceChildren(...(this.answers.get(`${kind}/${name}`) ?? [element("p", { text: node || body.length ? "" : "Not to be found here." })]));
    const answer = await this.askWhy(`${kind}/${name}`);
    if (!answer) return;
    const lines = explained(answer);
    this.answers.set(`${kind}/${name}`, lines);
    if (why.isConnected) why.replaceChildren(...lines);
  }
}
