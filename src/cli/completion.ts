/** `plat completion`: scripts that let a shell complete command lines of `plat`. The candidates come from the program itself. */
import { FlagError } from '../lib/flags.ts';
import { didYouMean } from '../lib/suggest.ts';
import { command } from './command.ts';

const bash = `# Completion of plat for bash. Use it with: source <(plat completion bash)
_plat() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}") found line
  found="$(plat __complete -- "\${words[@]}" 2>/dev/null)" || return
  COMPREPLY=()
  if [ "$found" = ":files" ]; then
    compopt -o default
    return
  fi
  while IFS= read -r line; do
    [ -n "$line" ] && COMPREPLY+=("\${line%%$'\\t'*}")
  done <<< "$found"
  [[ \${COMPREPLY[0]} == */ ]] && compopt -o nospace
}
complete -F _plat plat
`;
const zsh = `#compdef plat
# Completion of plat for zsh. Use it with: source <(plat completion zsh), or as a file _plat along fpath
_plat() {
  local -a lines entries
  lines=("\${(@f)$(plat __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${lines[1]} == ":files" ]]; then
    _files
    return
  fi
  local line
  for line in $lines; do
    [[ -n $line ]] && entries+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'plat' entries
}
if [ "$funcstack[1]" = "_plat" ]; then
  _plat "$@"
else
  compdef _plat plat
fi
`;
const fish = `# Completion of plat for fish. Use it with: plat completion fish | source
function __plat_complete
  set -l words (commandline -opc)
  set -l found (plat __complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
  if test "$found[1]" = ":files"
    __fish_complete_path (commandline -ct)
    return
  end
  string join \\n -- $found
end
complete -c plat -f -a '(__plat_complete)'
`;
const scripts: Readonly<Record<string, string>> = { bash, zsh, fish };

export const completion = command({
  usage: 'bash|zsh|fish',
  summary: 'Print a script that completes command lines: source <(plat completion bash)',
  flags: {},
  more: `Completes commands, flags and their values, types, names of objects, namespaces, and names of the client configuration.

  bash   source <(plat completion bash)         in ~/.bashrc
  zsh    source <(plat completion zsh)          in ~/.zshrc, after compinit
  fish   plat completion fish | source          in ~/.config/fish/config.fish
`,
  async run({ args }, io) {
    const [shell, more] = args;
    const names = Object.keys(scripts);
    if (shell === undefined || more !== undefined) throw new FlagError(`for which shell? One of ${names.join(', ')}`);
    const script = scripts[shell];
    if (script === undefined)
      throw new FlagError(`there is no completion for ${JSON.stringify(shell)}${didYouMean(shell, names)}: one of ${names.join(', ')}`);
    io.out(script);
    return 0;
  },
});
