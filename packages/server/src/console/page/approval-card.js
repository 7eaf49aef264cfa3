import { element } from "./element.js";
import { clockTime, countdown, shortSession } from "./format.js";
import { isWhole, showInput } from "./shown-input.js";
import { plainText, showText } from "./shown-text.js";

const LOUD_LABELS = new Set(["secret", "untrusted"]);
const EXPIRING_MS = 30_000;
const LEFT = "The agent has stopped waiting. If you allow this, it runs when the agent makes the same call again.";

/**
 * Creates the card of one approval request. `onAnswer(answer, reason)` is called with the user's decision; the caller
 * enables the card's buttons.
 */
export function createApprovalCard(approval, onAnswer) {
  const expiry = element("span", { class: "expiry" });
  const told = element("p", { class: "told", role: "status" });
  const left = element("p", { class: "warning", hidden: true }, LEFT);
  const steps = element("div", { class: "step", hidden: true });
  const buttons = createButtons(approval, press);
  /** SECURITY: a call cannot be approved before all of it was shown. */
  let isSeen = isWhole(approval.input);
  let isTaking = false;
  const titleId = `title-${approval.id}`;
  const root = element(
    "article",
    { class: "card", tabindex: "0", "aria-labelledby": titleId, "data-approval": approval.id },
    element(
      "header",
      {},
      element("h3", { id: titleId }, ...showText(approval.tool)),
      element("span", { class: `tier ${plainText(approval.tier)}` }, ...showText(approval.tier)),
      approval.kind === "console" ? element("span", { class: "tier" }, "console only") : "",
      expiry,
    ),
    showWho(approval),
    showChips(approval),
    showInput(approval.id, approval.input, () => {
      isSeen = true;
      refresh();
    }),
    isSeen ? "" : element("p", { class: "warning" }, "To allow this, look at the exact JSON to its end first."),
    ...approval.notes.map((note) => element("p", { class: "warning" }, ...showText(note))),
    showRules(approval),
    left,
    element("div", { class: "answers" }, ...buttons.values()),
    showScope(approval),
    steps,
    told,
  );

  steps.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });

  function press(answer) {
    if (buttons.get(answer).getAttribute("aria-disabled") === "true") return;
    if (answer === "rule") open(createRuleStep(approval, () => onAnswer("rule", ""), close));
    else if (answer === "deny") open(createDenyStep((reason) => onAnswer("deny", reason), close));
    else onAnswer(answer, "");
  }

  function refresh() {
    for (const [answer, button] of buttons) {
      const canBeGiven = isTaking && isOffered(approval, answer) && (isSeen || answer === "deny");
      button.setAttribute("aria-disabled", String(!canBeGiven));
    }
  }

  function open(step) {
    steps.replaceChildren(step.root);
    steps.hidden = false;
    step.first.focus();
  }

  function close() {
    steps.hidden = true;
    steps.replaceChildren();
    root.focus();
  }

  return {
    id: approval.id,
    root,
    expiresAtMs: approval.expiresAtMs,
    title: `${plainText(approval.agent)} asks for ${plainText(approval.tool)}`,
    press,
    setTaking(isNow) {
      isTaking = isNow;
      root.classList.toggle("waiting", !isTaking);
      refresh();
    },
    tick(nowMs) {
      const leftMs = approval.expiresAtMs - nowMs;
      expiry.textContent = leftMs > 0 ? `${countdown(leftMs)} left` : "expired";
      expiry.classList.toggle("soon", leftMs < EXPIRING_MS);
      return leftMs > 0;
    },
    setAwaited(isAwaited) {
      left.hidden = isAwaited;
    },
    tell(text) {
      told.textContent = text;
    },
    /** Collapses the card into one line with the outcome. */
    end(text, kind) {
      root.classList.add("ended", kind);
      root.tabIndex = -1;
      root.replaceChildren(
        element("p", { role: "status" }, element("strong", {}, ...showText(approval.tool)), ": ", ...[text].flat()),
      );
    },
  };
}

function isOffered({ sessionScope, ruleText }, answer) {
  if (answer === "session") return plainText(sessionScope) !== "";
  return answer !== "rule" || plainText(ruleText) !== "";
}

function createButtons(approval, press) {
  const words = [
    ["once", "Once", "o", "primary"],
    ["session", "For this session", "s", ""],
    ["rule", "As a rule", "r", ""],
    ["deny", "Deny", "d", "danger"],
  ];
  return new Map(
    words.map(([answer, text, key, look]) => {
      const hint = element("kbd", { "aria-hidden": "true" }, key);
      const attributes = { type: "button", class: look, "data-answer": answer, "aria-keyshortcuts": key };
      const missing = isOffered(approval, answer) ? {} : { title: "not offered for this call" };
      const button = element("button", { ...attributes, ...missing }, text, " ", hint);
      button.addEventListener("click", () => press(answer));
      return [answer, button];
    }),
  );
}

function showWho({ agent, user, tenant, session, workspace, requestedAtMs }) {
  const sessionId = plainText(session);
  const fact = (name, ...value) => element("div", {}, element("dt", {}, name), element("dd", {}, ...value));
  return element(
    "dl",
    { class: "who-asks" },
    fact("agent", ...showText(agent)),
    fact(
      "user",
      ...showText(user),
      plainText(tenant) === "" ? "" : element("span", { class: "dim" }, " of ", ...showText(tenant)),
    ),
    fact("session", element("span", { title: sessionId }, shortSession(sessionId))),
    fact("asked at", clockTime(requestedAtMs)),
    fact("workspace", ...showText(workspace)),
  );
}

function showChips({ effects, labels }) {
  const chips = [
    ...labels.map((label) => {
      const loud = LOUD_LABELS.has(plainText(label)) ? "label loud" : "label";
      return element("li", { class: loud }, element("span", { class: "dim" }, "label "), ...showText(label));
    }),
    ...effects.map((effect) => element("li", {}, ...showText(effect))),
  ];
  return chips.length === 0
    ? element("p", { class: "dim" }, "no effects declared")
    : element("ul", { class: "chips", "aria-label": "labels and effects" }, ...chips);
}

function showRules({ rules, messages }) {
  return element(
    "p",
    { class: "rules" },
    element("span", { class: "dim" }, "asked by "),
    ...names(rules),
    ...messages.flatMap((message) => [": ", element("q", {}, ...showText(message))]),
  );
}

function names(rules) {
  return rules.flatMap((rule, at) => [at === 0 ? "" : ", ", element("code", {}, ...showText(rule))]);
}

function showScope({ sessionScope, always }) {
  if (plainText(sessionScope) === "") {
    const why = always.length === 0 ? [] : [": ", ...names(always), " asks for every such call"];
    return element("p", { class: "scope dim" }, "An answer for the session is not offered for this call", ...why, ".");
  }
  return element(
    "p",
    { class: "scope" },
    element("span", { class: "dim" }, "For this session would allow: "),
    ...showText(sessionScope),
  );
}

function createRuleStep({ ruleText, always }, onConfirm, onCancel) {
  const confirm = element("button", { type: "button", class: "danger" }, "Write this rule");
  const cancel = element("button", { type: "button" }, "Cancel");
  confirm.addEventListener("click", onConfirm);
  cancel.addEventListener("click", onCancel);
  const root = element(
    "div",
    { role: "group", "aria-label": "confirm the rule" },
    element("p", {}, "This rule is written into the policy and holds for every session until it is revoked:"),
    element("pre", { class: "value text rule-text", tabindex: "0" }, ...showText(ruleText)),
    always.length === 0
      ? ""
      : element("p", { class: "warning lifts" }, "It lifts ", ...names(always), ", which asks for every such call."),
    element("div", { class: "answers" }, confirm, cancel),
  );
  return { root, first: cancel };
}

function createDenyStep(onDeny, onCancel) {
  const reason = element("input", { maxlength: "500", autocomplete: "off", id: "reason" });
  const cancel = element("button", { type: "button" }, "Cancel");
  const root = element(
    "form",
    {},
    element("label", { for: "reason" }, "Why not? The agent is told. It may stay empty."),
    reason,
    element("div", { class: "answers" }, element("button", { class: "danger" }, "Deny"), cancel),
  );
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    onDeny(reason.value);
  });
  cancel.addEventListener("click", onCancel);
  return { root, first: reason };
}
