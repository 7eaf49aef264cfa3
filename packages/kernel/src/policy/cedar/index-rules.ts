import type { EntityName } from "./cedar.ts";
import type { CompiledRule } from "./compile-rule.ts";
import { ACTION_TYPE, type ActionAncestors } from "./evaluated-request.ts";

export interface RuleIndex {
  /** Rules that apply to any action, including unknown ones. */
  readonly general: readonly CompiledRule[];
  /** Rules whose scope names this action or a group that contains it. */
  forAction(action: EntityName): readonly CompiledRule[];
}

const NONE: readonly CompiledRule[] = [];

/** Indexes rules by action, so that only those that can match an action are evaluated. */
export function indexRules(rules: readonly CompiledRule[], ancestors: ActionAncestors): RuleIndex {
  const members = membersOf(ancestors);
  const byType = new Map<string, Map<string, Set<CompiledRule>>>();
  const enter = (type: string, id: string, rule: CompiledRule): void => {
    const byId = getOrMake(byType, type, () => new Map<string, Set<CompiledRule>>());
    getOrMake(byId, id, () => new Set()).add(rule);
  };
  for (const rule of rules) {
    for (const { type, id } of rule.actionScope?.actions ?? []) {
      enter(type, id, rule);
      if (rule.actionScope?.isGroup !== true || type !== ACTION_TYPE) continue;
      for (const member of members.get(id) ?? []) enter(type, member, rule);
    }
  }
  const lists = new Map<string, Map<string, CompiledRule[]>>();
  for (const [type, byId] of byType) {
    lists.set(type, new Map([...byId].map(([id, found]): [string, CompiledRule[]] => [id, [...found]])));
  }
  return {
    general: rules.filter(({ actionScope }) => actionScope === undefined),
    forAction: ({ type, id }) => lists.get(type)?.get(id) ?? NONE,
  };
}

function membersOf(ancestors: ActionAncestors): Map<string, string[]> {
  const members = new Map<string, string[]>();
  for (const [action, groups] of ancestors) {
    for (const { id } of groups) getOrMake(members, id, () => []).push(action);
  }
  return members;
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
