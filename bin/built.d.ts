export function recordSources(root: string, paths: readonly string[]): void;
export function isBuilt(root: string): boolean;
