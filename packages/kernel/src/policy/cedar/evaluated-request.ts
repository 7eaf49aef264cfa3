import type { CedarEntity, CedarRequest, EntityName } from "./cedar.ts";
import { type CedarRecord, EntityValue, isSameEntity } from "./cedar-value.ts";

/** All groups of each action, direct and indirect. */
export type ActionAncestors = ReadonlyMap<string, readonly EntityName[]>;

export const ACTION_TYPE = "Action";

/** With more entities than this, an index is faster than a linear scan. */
const FEW = 8;
const NONE: readonly EntityName[] = [];

/** One request during its evaluation. Data that not every rule needs is computed on first use. */
export class EvaluatedRequest {
  readonly principal: EntityValue;
  readonly action: EntityValue;
  readonly resource: EntityValue;
  readonly context: CedarRecord;
  readonly #entities: readonly CedarEntity[];
  readonly #actionAncestors: ActionAncestors;
  #abovePrincipal: readonly EntityName[] | undefined;
  #aboveResource: readonly EntityName[] | undefined;
  #index: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined;

  constructor({ principal, action, resource, context, entities }: CedarRequest, actionAncestors: ActionAncestors) {
    this.principal = new EntityValue(principal.type, principal.id);
    this.action = new EntityValue(action.type, action.id);
    this.resource = new EntityValue(resource.type, resource.id);
    this.context = context as CedarRecord;
    this.#entities = entities;
    this.#actionAncestors = actionAncestors;
  }

  /** Whether the request contains action entities, which can add to the groups known in advance. */
  describesActions(): boolean {
    for (const { uid } of this.#entities) if (uid.type === this.action.type || uid.type === ACTION_TYPE) return true;
    return false;
  }

  /** Undefined if the request does not contain the entity. */
  attributesOf(entity: EntityName): CedarRecord | undefined {
    return this.#entities[this.#find(entity)]?.attrs as CedarRecord | undefined;
  }

  /** Cedar's `in`: the same entity or an ancestor. An entity that the request does not contain is only in itself. */
  isIn(entity: EntityName, group: EntityName): boolean {
    if (isSameEntity(entity, group)) return true;
    for (const ancestor of this.#ancestorsOf(entity)) if (isSameEntity(ancestor, group)) return true;
    return false;
  }

  /** Caches the ancestors of the principal and the resource, which rules use most. */
  #ancestorsOf(entity: EntityName): readonly EntityName[] {
    if (entity === this.principal) return (this.#abovePrincipal ??= this.#climb(entity));
    if (entity === this.resource) return (this.#aboveResource ??= this.#climb(entity));
    return this.#climb(entity);
  }

  #climb(entity: EntityName): readonly EntityName[] {
    const found: EntityName[] = [];
    this.#addParents(entity, found);
    // The loop also visits the ancestors it appends.
    for (const ancestor of found) this.#addParents(ancestor, found);
    return found;
  }

  #addParents(entity: EntityName, found: EntityName[]): void {
    for (const parent of this.#entities[this.#find(entity)]?.parents ?? NONE) addOnce(parent, found);
    for (const group of this.#aboveAction(entity)) addOnce(group, found);
  }

  #aboveAction({ type, id }: EntityName): readonly EntityName[] {
    return type === ACTION_TYPE ? (this.#actionAncestors.get(id) ?? NONE) : NONE;
  }

  #find(entity: EntityName): number {
    if (this.#entities.length > FEW) {
      this.#index ??= indexEntities(this.#entities);
      return this.#index.get(entity.type)?.get(entity.id) ?? -1;
    }
    for (let index = 0; index < this.#entities.length; index++) {
      const uid = this.#entities[index]?.uid;
      if (uid !== undefined && isSameEntity(uid, entity)) return index;
    }
    return -1;
  }
}

function addOnce(name: EntityName, found: EntityName[]): void {
  for (const known of found) if (isSameEntity(known, name)) return;
  found.push(name);
}

function indexEntities(entities: readonly CedarEntity[]): Map<string, Map<string, number>> {
  const index = new Map<string, Map<string, number>>();
  for (const [place, { uid }] of entities.entries()) {
    const ofType = index.get(uid.type) ?? new Map<string, number>();
    if (!ofType.has(uid.id)) ofType.set(uid.id, place);
    index.set(uid.type, ofType);
  }
  return index;
}
