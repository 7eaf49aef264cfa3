/** The nodes that each node leads to. */
export type Graph = ReadonlyMap<string, readonly string[]>;

interface Visit {
  readonly index: number;
  lowest: number;
  isOpen: boolean;
}

/** The sets of nodes that lead to each other, and nodes that lead to themselves (Tarjan's strong components). */
export function findCycles(graph: Graph): string[][] {
  const visits = new Map<string, Visit>();
  const open: string[] = [];
  const cycles: string[][] = [];

  function enter(node: string): Visit {
    const visit = { index: visits.size, lowest: visits.size, isOpen: true };
    visits.set(node, visit);
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      const known = visits.get(next);
      if (known === undefined) visit.lowest = Math.min(visit.lowest, enter(next).lowest);
      else if (known.isOpen) visit.lowest = Math.min(visit.lowest, known.index);
    }
    if (visit.lowest === visit.index) {
      const component = open.splice(open.indexOf(node));
      for (const member of component) {
        const closed = visits.get(member);
        if (closed !== undefined) closed.isOpen = false;
      }
      if (component.length > 1 || graph.get(node)?.includes(node) === true) cycles.push(component);
    }
    return visit;
  }

  for (const node of graph.keys()) if (!visits.has(node)) enter(node);
  return cycles;
}
