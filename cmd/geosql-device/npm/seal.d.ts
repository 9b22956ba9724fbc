/** The key of a device, which signs and seals as a collector. The texts are those of 'geosql keygen'. */
export interface CollectorKey {
  /** A secret of the device: keep it where only the device reads it. */
  privateKey: string
  /** For the owner: geosql collector OUT add NAME --verify FILE. Without that, nothing that the device seals opens. */
  publicKey: string
}

/** Makes a key for this device. */
export function collectorKey(): Promise<CollectorKey>

export interface SealOptions {
  /** The text of the owner's KEY.pub. Take it from a place that you trust: its owner opens what is sealed for it. */
  ownerKey: string
  /** The output of 'geosql collector OUT declaration', as text or parsed. */
  declaration: string | object
  /** A sealed table of OUT. */
  table: string
  /** CollectorKey.privateKey. */
  signKey: string
}

/** A cell: a reading, a location, or a public number or text. It is NULL if it is null or undefined. */
export type Cell = number | string | { lat: number; lon: number } | null | undefined

export interface Sealer {
  /**
   * Adds a row to the batch, with the account that pays for releases of it. Readings and locations are moved into their universe
   * or domain now, and sealed by lines. Returns the number of rows in the batch.
   */
  row(account: string | number | bigint, values: Record<string, Cell>): number
  /**
   * Seals the batch and begins another one. Returns its lines, for 'geosql append OUT TABLE FILE.jsonl': all of them, in a file
   * alone or behind those of other batches.
   */
  lines(): string
}

/** Returns a sealer. It keeps the rows of a batch in memory, as they are, until lines seals them. */
export function seal(options: SealOptions): Promise<Sealer>
