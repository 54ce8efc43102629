/** The utilisation at which a live price is its base. */
export const comfortable = 0.7;
