"""`seedbed completion SHELL`: a script by which the shell completes commands, options, their choices and sweeps.

It is made from the parser and asks nothing of Python when a key is pressed. Names of sweeps are those of the results
folder in use (`experiment_runs_data`, or the one behind --out).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from seedbed.cli.main import EXIT_OK, make_parser
from seedbed.cli.parsing import Parser

_SWEEPS = ("sweep", "a", "b")
"""Arguments that name a sweep."""


def run(arguments: argparse.Namespace) -> int:
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](make_parser()))
    return EXIT_OK


def _choices(parser: Parser) -> dict[str, list[str]]:
    """Options, and "" for the arguments without a name, that take one of a few words."""
    return {
        name: [str(choice) for choice in action.choices]
        for action in parser.actions
        if action.choices
        for name in (action.option_strings or [""])
    }


def _takes_sweeps(parser: Parser) -> bool:
    return any(action.dest in _SWEEPS and not action.option_strings for action in parser.actions)


def _text(words: str | None) -> str:
    """A help text that may stand within single quotes."""
    return (words or "").replace("%(default)s", "").replace("'", "").replace("[", "(").replace("]", ")")


def _help_of(parser: Parser) -> str:
    return _text((parser.description or "").partition(". ")[0].rstrip("."))


_BASH = """\
# Completion of seedbed for bash: put this line into ~/.bashrc
#   eval "$(seedbed completion bash)"
_seedbed_sweeps() {
  local i out=experiment_runs_data
  for ((i = 1; i < COMP_CWORD; i++)); do [[ ${COMP_WORDS[i]} == --out ]] && out=${COMP_WORDS[i+1]}; done
  [[ -d $out/sweeps ]] && command ls -- "$out/sweeps"
}
_seedbed() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words="" options=""
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "COMMANDS --help --version" -- "$word"))
    return
  fi
  case "$command $before" in
CHOICES
    *)
      case "$command" in
OPTIONS
      esac
      [[ $word == -* ]] && words=$options ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ ${#COMPREPLY[@]} == 0 && $word != -* ]]; then compopt -o default 2>/dev/null; fi
}
complete -F _seedbed seedbed"""


def _bash(parser: Parser) -> str:
    def choices() -> Iterator[str]:
        for name, own in parser.commands.items():
            for option, words in _choices(own).items():
                if option:
                    yield f'    "{name} {option}") words="{" ".join(words)}" ;;'

    def options() -> Iterator[str]:
        for name, own in parser.commands.items():
            sweeps = ["$(_seedbed_sweeps)"] if _takes_sweeps(own) else []
            plain = " ".join([*_choices(own).get("", []), *sweeps])
            yield f'        {name}) options="{" ".join(own.options)}" words="{plain}" ;;'

    text = _BASH.replace("COMMANDS", " ".join(parser.commands))
    return text.replace("CHOICES", "\n".join(choices())).replace("OPTIONS", "\n".join(options()))


_ZSH = """\
#compdef seedbed
# Completion of seedbed for zsh: put this line into ~/.zshrc, below compinit
#   eval "$(seedbed completion zsh)"
_seedbed_sweeps() {
  local out=experiment_runs_data
  (( ${words[(I)--out]} )) && out=${words[${words[(I)--out]}+1]}
  compadd -- $out/sweeps/*(N/:t)
}
_seedbed() {
  if (( CURRENT == 2 )); then
    local -a commands=(
COMMANDS
    )
    _describe command commands
    return
  fi
  case $words[2] in
OPTIONS
  esac
}
compdef _seedbed seedbed"""


def _zsh(parser: Parser) -> str:
    def spec(action: argparse.Action, choices: list[str]) -> Iterator[str]:
        takes = "" if action.nargs == 0 else f":{_text(str(action.metavar or action.dest))}:"
        takes += f"({' '.join(choices)})" if choices and takes else "_files" * bool(takes)
        for name in action.option_strings:
            yield f"'{name}[{_text(action.help).replace(':', ' -')}]{takes}'"

    def one(name: str, own: Parser) -> str:
        choices = _choices(own)
        listed = [part for action in own.actions if (names := action.option_strings)
                  for part in spec(action, choices.get(names[0], []))]  # fmt: skip
        words = choices.get("", [])
        rest = f"({' '.join(words)})" if words else "_seedbed_sweeps" if _takes_sweeps(own) else "_files"
        # _arguments counts from the command's name on.
        return f"    {name}) shift words; (( CURRENT-- )); _arguments {' '.join(listed)} '*:argument:{rest}' ;;"

    commands = "\n".join(f"      '{name}:{_help_of(own).replace(':', ' -')}'" for name, own in parser.commands.items())
    options = "\n".join(one(name, own) for name, own in parser.commands.items())
    return _ZSH.replace("COMMANDS", commands).replace("OPTIONS", options)


_FISH = """\
# Completion of seedbed for fish: seedbed completion fish > ~/.config/fish/completions/seedbed.fish
function __seedbed_sweeps
    set -l out experiment_runs_data
    set -l given (commandline -opc)
    if set -l at (contains -i -- --out $given); and test (count $given) -gt $at
        set out $given[(math $at + 1)]
    end
    test -d $out/sweeps; and command ls -- $out/sweeps
end"""


def _fish(parser: Parser) -> str:
    lines = [_FISH]
    for name, own in parser.commands.items():
        lines.append(f"complete -c seedbed -n __fish_use_subcommand -f -a {name} -d '{_help_of(own)}'")
        seen = f"complete -c seedbed -n '__fish_seen_subcommand_from {name}'"
        for action in own.actions:
            words = _choices(own).get((action.option_strings or [""])[0], [])
            listed = f" -x -a '{' '.join(words)}'" if words else " -r" if action.nargs != 0 else ""
            if action.option_strings:
                long = action.option_strings[-1].removeprefix("--")
                lines.append(f"{seen} -l {long}{listed} -d '{_text(action.help)}'")
            elif words:
                lines.append(f"{seen} -f -a '{' '.join(words)}'")
        if _takes_sweeps(own):
            lines.append(f"{seen} -a '(__seedbed_sweeps)'")
    return "\n".join(lines)
