const PAGE_RECORDS = 4096;
const MASKED_ITEMS = 16;

/**
 * Erased items that no ContentErased entry has named yet. Retention erases nearly everything in the end, so a record
 * costs two bytes here, and a page is freed as soon as it is empty.
 */
export class Erasures {
  readonly #pages = new Map<number, Page>();
  /** Items beyond those that a mask can hold: `index/item`. */
  readonly #others = new Set<string>();

  note(index: number, item: number): void {
    if (item >= MASKED_ITEMS) {
      this.#others.add(`${index}/${item}`);
      return;
    }
    const pageNumber = Math.floor(index / PAGE_RECORDS);
    let page = this.#pages.get(pageNumber);
    if (page === undefined) {
      page = { masks: new Uint16Array(PAGE_RECORDS), open: 0 };
      this.#pages.set(pageNumber, page);
    }
    page.masks[index % PAGE_RECORDS] = (page.masks[index % PAGE_RECORDS] ?? 0) | (1 << item);
    page.open++;
  }

  /** False if the item was not erased, or was already named. */
  explain(index: number, item: number): boolean {
    if (item >= MASKED_ITEMS) return this.#others.delete(`${index}/${item}`);
    const pageNumber = Math.floor(index / PAGE_RECORDS);
    const page = this.#pages.get(pageNumber);
    const mask = page?.masks[index % PAGE_RECORDS] ?? 0;
    if (page === undefined || (mask & (1 << item)) === 0) return false;
    page.masks[index % PAGE_RECORDS] = mask & ~(1 << item);
    page.open--;
    if (page.open === 0) this.#pages.delete(pageNumber);
    return true;
  }

  *unexplained(): Iterable<{ readonly index: number; readonly item: number }> {
    for (const [pageNumber, { masks }] of this.#pages) {
      for (const [offset, mask] of masks.entries()) {
        for (let item = 0; item < MASKED_ITEMS; item++) {
          if ((mask & (1 << item)) !== 0) yield { index: pageNumber * PAGE_RECORDS + offset, item };
        }
      }
    }
    for (const other of this.#others) {
      const [index = 0, item = 0] = other.split("/").map(Number);
      yield { index, item };
    }
  }
}

interface Page {
  readonly masks: Uint16Array;
  open: number;
}
