/** Many files wait, for leases and outages that last as long as they do: a third one uses the two cores meanwhile. */
export const maxWorkers = 3;
