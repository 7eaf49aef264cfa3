import { createApprovals } from "./approvals.js";
import { createCalls } from "./calls.js";
import { ask, leave, listen } from "./connection.js";
import { watchKeys } from "./keys.js";
import { showPolicy } from "./policy-facts.js";
import { showText } from "./shown-text.js";
import { createStanding } from "./standing.js";
import { showUnsafe } from "./unsafe-workspaces.js";

const byId = (id) => document.getElementById(id);

const approvals = createApprovals({
  list: byId("cards"),
  empty: byId("no-cards"),
  count: byId("question-count"),
  news: byId("news"),
  heading: byId("questions"),
});
const standing = createStanding({ list: byId("standing"), empty: byId("no-standing"), count: byId("standing-count") });
const calls = createCalls({
  list: byId("calls"),
  empty: byId("no-calls"),
  count: byId("call-count"),
  pause: byId("pause"),
  sessionFilter: byId("session-filter"),
  textFilter: byId("text-filter"),
});

const EVENTS = {
  hello({ version, approver, policy, unsafe, nowMs }) {
    byId("version").textContent = version;
    byId("approver").replaceChildren("answering as ", ...showText(approver));
    approvals.setClock(nowMs);
    showPolicy(policy, byId("policy"), byId("banners"));
    showUnsafe(unsafe, byId("alerts"));
  },
  beat: ({ nowMs }) => approvals.setClock(nowMs),
  policy: ({ policy }) => showPolicy(policy, byId("policy"), byId("banners")),
  unsafe: ({ unsafe }) => showUnsafe(unsafe, byId("alerts")),
  asked: ({ approval }) => approvals.add(approval),
  open: ({ ids, left }) => approvals.keep(ids, left),
  answered: ({ answered }) => approvals.tellAnswer(answered),
  standing: (event) => standing.show(event.standing),
  call: ({ call }) => calls.add(call),
};

function showState(state) {
  const connection = byId("connection");
  connection.textContent = state === "live" ? "live" : "not connected, trying again";
  connection.classList.toggle("lost", state !== "live");
}

watchKeys({ approvals, help: byId("help") });
byId("show-help").addEventListener("click", () => byId("help").showModal());
byId("sign-out").addEventListener("click", () => {
  ask("sign-out", {}).then(leave, leave);
});
// A user who comes back to the page gets a moment to look before buttons take effect.
window.addEventListener("focus", () => approvals.settleAll());
document.addEventListener("visibilitychange", () => approvals.settleAll());
setInterval(() => approvals.tick(), 1000);
void listen((event) => EVENTS[event.kind]?.(event), showState);
