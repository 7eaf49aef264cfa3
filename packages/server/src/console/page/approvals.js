import { createApprovalCard } from "./approval-card.js";
import { ask, leave } from "./connection.js";
import { showText, plainText } from "./shown-text.js";

/** A card that just appeared or moved takes no decision: the click or key was meant for what was there before. */
const SETTLE_MS = 500;
/** Maximum number of resolved requests that stay visible; older ones are removed when another one is resolved. */
const MOST_ENDED = 3;
/** Resolved requests are removed after this time if none is pending. */
const ENDED_MS = 8000;
const DONE = {
  once: "Allowed once",
  session: "Allowed for this session",
  rule: "Allowed, and written as a rule",
  deny: "Denied",
};

/** Creates the list of pending approval requests, oldest first. */
export function createApprovals({ list, empty, count, news, heading }) {
  const cards = new Map();
  let offsetMs = 0;

  const nowMs = () => Date.now() + offsetMs;
  const isOpen = (card) => !card.root.classList.contains("ended");
  const openCards = () => [...cards.values()].filter(isOpen);

  function settle(card) {
    card.setTaking(false);
    clearTimeout(card.settling);
    card.settling = setTimeout(() => card.setTaking(isOpen(card) && !card.busy && card.tick(nowMs())), SETTLE_MS);
  }

  /** Every card below a change has moved. */
  function settleAll() {
    for (const card of openCards()) settle(card);
    const open = openCards().length;
    empty.hidden = cards.size > 0;
    count.textContent = String(open);
    document.title = open === 0 ? "Narthex" : `(${open}) Narthex`;
  }

  function add(approval) {
    if (cards.has(approval.id)) return;
    const card = createApprovalCard(approval, (answer, reason) => void give(card, answer, reason));
    cards.set(approval.id, card);
    const item = document.createElement("li");
    item.append(card.root);
    list.append(item);
    card.tick(nowMs());
    news.textContent = `New question: ${card.title}`;
    settle(card);
    empty.hidden = true;
    const open = openCards().length;
    count.textContent = String(open);
    document.title = `(${open}) Narthex`;
  }

  async function give(card, answer, reason) {
    if (card.busy || !isOpen(card) || card.root.classList.contains("waiting")) return;
    card.busy = true;
    card.setTaking(false);
    try {
      const done = await ask("answer", { id: card.id, answer, reason });
      end(card, doneText(done), answer === "deny" ? "denied" : "allowed", { isOwn: true });
    } catch (error) {
      card.busy = false;
      if (error.status === 401) leave();
      else if (error.status === 409 && !stillOpen(error)) end(card, error.message, "other");
      else {
        card.tell(error.message);
        settle(card);
      }
    }
  }

  /**
   * SECURITY: the focus moves to the next request only after the user's own decision; otherwise it moves to the
   * heading, so that keys still being typed decide nothing.
   */
  function end(card, text, kind, { isOwn = false } = {}) {
    if (!isOpen(card)) return;
    const hadFocus = card.root.contains(document.activeElement);
    const next = neighbour(card, 1) ?? neighbour(card, -1);
    card.end(text, kind);
    if (hadFocus) ((isOwn ? next?.root : undefined) ?? heading).focus();
    removeEnded(MOST_ENDED);
    settleAll();
    setTimeout(() => {
      if (openCards().length > 0) return;
      removeEnded(0);
      settleAll();
    }, ENDED_MS);
  }

  /** Called only when it does not disturb the reader, because cards that move take no decision for a moment. */
  function removeEnded(most) {
    const over = [...cards.values()].filter((card) => !isOpen(card));
    for (const card of over.slice(0, Math.max(0, over.length - most))) {
      card.root.parentElement.remove();
      cards.delete(card.id);
    }
  }

  function neighbour(card, step) {
    const open = openCards();
    const at = open.indexOf(card);
    return at < 0 ? undefined : open[at + step];
  }

  return {
    add,
    /** Ends the shown requests that are not in `ids`. No caller waits for those in `left`. */
    keep(ids, left) {
      const open = new Set(ids);
      const unawaited = new Set(left);
      for (const card of openCards()) {
        card.setAwaited(!unawaited.has(card.id));
        if (!open.has(card.id) && !card.busy)
          end(card, "no longer waiting: answered already, withdrawn or expired", "other");
      }
    },
    /** Shows how a request was resolved, and by whom. */
    tellAnswer({ id, answer, scope, door, approver }) {
      const card = cards.get(id);
      if (card === undefined || card.busy || card.root.classList.contains("allowed")) return;
      const by = plainText(approver) === "" ? [] : [" by ", ...showText(approver), " (", ...showText(door), ")"];
      const words =
        answer === "approved" ? `allowed ${scope === "once" ? "once" : `for ${scope}`}` : answer.replace("_", " ");
      const text = ["Answered already: ", words, ...by];
      if (isOpen(card)) end(card, text, "other");
      else if (card.root.classList.contains("other")) card.end(text, "other");
    },
    focus(step) {
      const open = openCards();
      const at = open.findIndex((card) => card.root.contains(document.activeElement));
      const to = at < 0 ? (step > 0 ? 0 : open.length - 1) : Math.min(open.length - 1, Math.max(0, at + step));
      open[to]?.root.focus();
    },
    /** Presses a button of the card that has the focus, and of no other. */
    press(answer) {
      openCards()
        .find((card) => card.root.contains(document.activeElement))
        ?.press(answer);
    },
    setClock(kernelMs) {
      offsetMs = kernelMs - Date.now();
    },
    tick() {
      for (const card of openCards()) if (!card.tick(nowMs())) card.setTaking(false);
    },
    settleAll,
  };
}

function doneText({ answer, isAwaited }) {
  const text = DONE[answer] ?? answer;
  return isAwaited || answer === "deny"
    ? text
    : `${text}. The agent had stopped waiting: it runs when the agent asks again`;
}

/** Whether the kernel refused this decision and the request is still pending. */
function stillOpen({ code }) {
  return code === "INVALID_INPUT";
}
