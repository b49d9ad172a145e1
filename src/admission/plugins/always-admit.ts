/** AlwaysAdmit: has no effect. Kept for command lines of old. */
import type { MakePlugin } from '../plugin.ts';

export const alwaysAdmit: MakePlugin = () => ({ name: 'AlwaysAdmit', handles: () => true });
