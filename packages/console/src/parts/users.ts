/** Names of users. */

/** A service account by its own name, other users of the system without what they have in common. */
export const shortUser = (user: string): string => user.replace(/^system:(serviceaccount:[^:]+:)?(?=.)/, '');

const ofServer = /^system:(serviceaccount:[^:]+-system:|(?!serviceaccount:))/;
/** Controllers and other parts of the server itself. */
export const isOfServer = (user: string): boolean => ofServer.test(user);
