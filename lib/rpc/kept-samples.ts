/** The samples that an overview shows, one a second: five minutes. */
export const keptSamples = 300;
