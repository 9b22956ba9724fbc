/** Returns the path of the extension. */
export declare function getLoadablePath(): string;

/**
 * Loads the functions into a database of better-sqlite3 or node:sqlite (opened with
 * allowExtension).
 */
export declare function load(database: { loadExtension(file: string): unknown }): void;
