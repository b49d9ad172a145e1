/** Whether only this user can write a file. */
import type { Stats } from 'node:fs';

/**
 * `user`: the number of this user; undefined on Windows, which has neither such numbers nor mode bits. There, the list of rights of
 * the directory decides, which is private for directories of a user.
 */
export function isOwn({ uid, mode }: Pick<Stats, 'uid' | 'mode'>, user: number | undefined): boolean {
  return user === undefined || (uid === user && (mode & 0o022) === 0);
}
