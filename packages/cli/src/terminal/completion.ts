/** `plat completion`: scripts that let a shell complete command lines. The candidates come from the program itself. */

import { FlagError } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { command } from '../command.ts';
import { asCalled, programName } from '../program.ts';

/** `PROGRAM` stands for the name of the program. */
const bash = `# Completion of PROGRAM for bash. Use it with: source <(PROGRAM completion bash)
_PROGRAM() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}") found line
  found="$(PROGRAM __complete -- "\${words[@]}" 2>/dev/null)" || return
  COMPREPLY=()
  if [ "$found" = ":files" ]; then
    compopt -o default 2>/dev/null
    return
  fi
  while IFS= read -r line; do
    [ -n "$line" ] && COMPREPLY+=("\${line%%$'\\t'*}")
  done <<< "$found"
  [[ \${COMPREPLY[0]} == *[/=.] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _PROGRAM PROGRAM
`;
const zsh = `#compdef PROGRAM
# Completion of PROGRAM for zsh. Use it with: source <(PROGRAM completion zsh), or as a file _PROGRAM along fpath
_PROGRAM() {
  local -a lines entries open
  lines=("\${(@f)$(PROGRAM __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${lines[1]} == ":files" ]]; then
    _files
    return
  fi
  local line word
  for line in $lines; do
    [[ -z $line ]] && continue
    word=\${line%%$'\\t'*}
    if [[ $word == *[/=.] ]]; then
      open+=("$word")
    else
      entries+=("\${word//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( \${#open} )) && compadd -S '' -- $open
  (( \${#entries} )) && _describe 'PROGRAM' entries
}
if [ "$funcstack[1]" = "_PROGRAM" ]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
`;
const fish = `# Completion of PROGRAM for fish. Use it with: PROGRAM completion fish | source
function __PROGRAM_complete
  set -l words (commandline -opc)
  set -l found (PROGRAM __complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
  if test "$found[1]" = ":files"
    __fish_complete_path (commandline -ct)
    return
  end
  string join \\n -- $found
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
`;
/** Older releases leave out arguments that are empty: `--next` stands for an empty one at the end. */
const powershell = `# Completion of PROGRAM for PowerShell. Use it with: PROGRAM completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName PROGRAM -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $line = if ($wordToComplete) { @('--') + $words + $wordToComplete } else { @('--next', '--') + $words }
  $found = @(PROGRAM __complete @line 2>$null)
  if ($found.Count -gt 0 -and $found[0] -eq ':files') {
    return [System.Management.Automation.CompletionCompleters]::CompleteFilename($wordToComplete)
  }
  foreach ($line in $found) {
    if ($line -eq '') { continue }
    $word, $help = $line -split "\`t", 2
    if (-not $help) { $help = $word }
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $help)
  }
}
`;
const scripts: Readonly<Record<string, string>> = { bash, zsh, fish, powershell };
export const shells: readonly string[] = Object.keys(scripts);

export const completion = command({
  usage: shells.join('|'),
  summary: 'Print a script that completes command lines.',
  flags: {},
  more: `Completes commands, flags and their values, types, names of objects, namespaces, containers, fields, and names of the client configuration.

Examples:
  source <(plat completion bash)                                  in ~/.bashrc
  source <(plat completion zsh)                                   in ~/.zshrc, after compinit
  plat completion fish | source                                   in ~/.config/fish/config.fish
  plat completion powershell | Out-String | Invoke-Expression     in $PROFILE
`,
  async run({ args }, io) {
    const [shell, more] = args;
    const one = `one of ${shells.join(', ')}`;
    if (shell === undefined || more !== undefined) throw new FlagError(`for which shell? Name ${one}`);
    const script = own(scripts, shell);
    if (script === undefined)
      throw new FlagError(asCalled(`there is no completion for ${JSON.stringify(shell)}${didYouMean(shell, shells)}: ${one}`, io));
    io.out(script.replaceAll('PROGRAM', programName(io)));
    return 0;
  },
});
