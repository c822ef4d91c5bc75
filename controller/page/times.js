// Times as text, in UTC, as in the cluster's objects.
export const DAY = 86400000;

export const clock = (ms) => new Date(ms).toISOString().slice(11, 19);

// Since the begin of a simulation.
export const timeOf = (ms) => (ms >= DAY ? `${Math.floor(ms / DAY)} d ` : "") + clock(ms);

export const hourOf = (ms) => new Date(ms).toISOString().slice(11, 16);
// "2026-11-21T14:22:49Z" to the minute, without a year.
export const momentOf = (stamp) => (stamp ? stamp.slice(5, 16).replace("T", " ") : "");
export const dateOf = (ms) => new Date(ms).toISOString().slice(5, 10);
