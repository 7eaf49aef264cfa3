/** A file with random access. */
export interface BundleFile {
  readonly size: number;
  /** Reads exactly `length` bytes; throws if the file ends earlier. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Why a file is not a readable bundle. */
export class BundleFault extends Error {
  override readonly name: string = "BundleFault";
}
