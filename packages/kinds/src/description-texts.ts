/** `$` describes the message itself, the other keys its fields. */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;
