let addresses = 0;

/** An address of a network of its own, so that nobody's calls are counted with those of somebody else. */
export function newAddress(): string {
  addresses += 1;
  return `10.${addresses >> 8}.${addresses & 255}.1`;
}
