export function toAnchor(heading: string): string;
