import { createApprovalCard } from "./approval-card.js";
import { ask, leave } from "./connection.js";
import { showText, plainText } from "./shown-text.js";

/** What just appeared or moved takes no answer: the click or key was meant for what was there before. */
const SETTLE_MS = 500;
/** So many answered questions still say how they ended; those above go when another one is answered. */
const MOST_ENDED = 3;
/** Where nothing is left to answer they go by themselves. */
const ENDED_MS = 8000;
const DONE = {
  once: "Allowed once",
  session: "Allowed for this session",
  rule: "Allowed, and written as a rule",
  deny: "Denied",
};

/** The questions that are open, oldest first. */
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

  /** Whatever stands below a change has moved. */
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

  /** SECURITY: only who answered is taken on to the next question: whoever still types goes on typing to nobody. */
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

  /** Only while nothing is being read: what moves under a reader's hand takes no answer for a moment. */
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
    /** Of the questions that are shown, those not named here are over. No caller waits for those in `left`. */
    keep(ids, left) {
      const open = new Set(ids);
      const unawaited = new Set(left);
      for (const card of openCards()) {
        card.setAwaited(!unawaited.has(card.id));
        if (!open.has(card.id) && !card.busy)
          end(card, "no longer waiting: answered already, withdrawn or expired", "other");
      }
    },
    /** How a question ended, by whoever answered it. */
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
    /** Presses a button of the card that has the focus; of no other. */
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

/** The kernel refused this answer, and the question is still open. */
function stillOpen({ code }) {
  return code === "INVALID_INPUT";
}
