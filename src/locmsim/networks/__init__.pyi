from locmsim.networks._network import BLOCKS as BLOCKS
from locmsim.networks._network import LARGE_SHAPES as LARGE_SHAPES
from locmsim.networks._network import SHAPES as SHAPES
from locmsim.networks._network import Network as Network
from locmsim.networks._network import inputs as inputs
from locmsim.networks.weights import Weights as Weights
from locmsim.networks.weights import WeightsFile as WeightsFile
from locmsim.networks.weights import default_weights as default_weights
