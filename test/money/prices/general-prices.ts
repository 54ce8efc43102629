/** The general prices of a version. */
export const generalPrices = (priceVersion: number) => ({ priceVersion, ownPrices: null });
