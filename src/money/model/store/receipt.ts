/** Removes receipts that have been archived. */
export interface ReceiptStore {
  /**
   * Removes at most `most` receipts settled before a time, in milliseconds since the epoch, oldest first. Their cost
   * stays in the sums of their slices. Returns how many were removed. A crash may bring them back, sums and all.
   */
  removeReceipts(before: number, most: number): Promise<number>;
}
