/** Colours of a page on a terminal: words of state, and warnings among the events. */
import { type Paint, statusColour } from '../output/colours.ts';

/** Fields whose value is a state; what follows its first word is not coloured. */
const stateField = /^(\s*(?:Status|State|Last State|Phase|Ready|Reason|Type):\s+)([A-Za-z,]+)(.*)$/;
const warning = /^( {2})(Warning)( .*)$/;
/** `  Ready   True` and `  Available  False  Reason`: conditions that are good when they are true. */
const goodCondition =
  /^( {2}(?:Ready|Available|Initialized|ContainersReady|PodScheduled|Progressing|Established|Complete)\s+)(True|False|Unknown)(.*)$/;

export function colourPage(text: string, paint: Paint): string {
  return text
    .split('\n')
    .map((line) => {
      const [, textBefore, word, after] = stateField.exec(line) ?? warning.exec(line) ?? goodCondition.exec(line) ?? [];
      return textBefore === undefined || word === undefined ? line : `${textBefore}${paint(word, statusColour(word))}${after}`;
    })
    .join('\n');
}
