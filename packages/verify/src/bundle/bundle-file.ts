/** A file that can be read anywhere. */
export interface BundleFile {
  readonly size: number;
  /** Exactly so many bytes; throws where they are not there. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Why a file is no bundle that can be read. */
export class BundleFault extends Error {
  override readonly name: string = "BundleFault";
}
