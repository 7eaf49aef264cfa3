/** A Map that costs almost nothing while it is empty: a session has several, and most stay empty. */
export class LazyMap<K, V> {
  #map: Map<K, V> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  get(key: K): V | undefined {
    return this.#map?.get(key);
  }

  has(key: K): boolean {
    return this.#map?.has(key) ?? false;
  }

  set(key: K, value: V): void {
    this.#map ??= new Map();
    this.#map.set(key, value);
  }

  delete(key: K): void {
    this.#map?.delete(key);
    if (this.#map?.size === 0) this.#map = undefined;
  }

  /** A copy of the keys, in insertion order. */
  keys(): K[] {
    return this.#map === undefined ? [] : [...this.#map.keys()];
  }

  values(): V[] {
    return this.#map === undefined ? [] : [...this.#map.values()];
  }

  entries(): [K, V][] {
    return this.#map === undefined ? [] : [...this.#map.entries()];
  }

  get firstKey(): K | undefined {
    return this.#map?.keys().next().value;
  }
}
