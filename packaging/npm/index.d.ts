/** The path of the extension. */
export declare function getLoadablePath(): string;

/**
 * Gives a database of better-sqlite3 or node:sqlite (opened with allowExtension)
 * the functions.
 */
export declare function load(database: { loadExtension(file: string): unknown }): void;
